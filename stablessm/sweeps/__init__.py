"""Sweeps as data: declarations read and checked, planned into work items, run, stored and exported."""
