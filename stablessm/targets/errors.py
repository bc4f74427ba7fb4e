"""The one error a target raises."""


class TargetError(ValueError):
    """A target, a formula or a file of samples that cannot be used; the message is one finished sentence."""
