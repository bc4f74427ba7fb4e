"""Models: layers with heads."""

from stablessm.models.classifier import LinearRNNClassifier as LinearRNNClassifier
from stablessm.models.stack import Stack as Stack
