"""What asking for a map can end in, other than a map."""


class DesignError(ValueError):
    """A question that is no question: a formula, a range or an option that cannot be meant."""


class Unsolved(Exception):
    """A question that has no answer here, in one sentence: no closed form, no stable map, no time left."""
