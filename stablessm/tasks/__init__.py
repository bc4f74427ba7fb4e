"""Tasks: what is asked of a model on data, how its answers are scored, and the network that is built for it."""
