"""Drawing: one style, one colour for each map, files that come out the same every time. Neither JAX nor SymPy."""
