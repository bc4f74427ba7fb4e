"""The one error a parameterization raises."""


class ParameterizationError(ValueError):
    """A map, a formula, a link, a constant or a decay that cannot be used; the message is one finished sentence."""
