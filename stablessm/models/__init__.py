"""Models: layers with heads."""

from stablessm.models.classifier import LinearRNNClassifier as LinearRNNClassifier
