"""Numerics of diagonal linear recurrences."""
