"""Elementary functions of one real variable: enclosures, orders of growth, limits. Knows nothing of maps."""
