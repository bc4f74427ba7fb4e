"""Models: layers in blocks and stacks, with heads."""

from stablessm.models.block import Block as Block
from stablessm.models.classifier import LinearRNNClassifier as LinearRNNClassifier
from stablessm.models.network import Network as Network
from stablessm.models.stack import Stack as Stack
