"""Which sweep has grown from which: the same measurement and settings, on axes that have more values than before.

Values are matched exactly: integers and floats by value, maps and targets by all that decides their results. Never by
the text of a number.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from stablessm.sweeps.entries import Entry
from stablessm.sweeps.plan import Grid, Plan
from stablessm.sweeps.spec import Spec, difference


def places_in(old: Spec, new: Spec) -> Grid | None:
    """Return the places of the old sweep's values among the new one's, axis by axis.

    Returns:
        None where the old sweep is no part of the new one: another measurement or setting, or a value that is missing.
    """
    if old.measurement != new.measurement or set(old.axes) != set(new.axes):
        return None
    if any(line.startswith("settings.") for line in difference(old.document(), new.document())):
        return None
    grid = {}
    for name, values in new.axes.items():
        known = {key(value): place for place, value in enumerate(values)}
        keys = [key(value) for value in old.axes[name]]
        if any(key not in known for key in keys):
            return None
        grid[name] = [known[key] for key in keys]
    return grid


def with_chunk_of(old: Spec, new: Spec) -> Spec:
    """Return the new sweep, with the work items of the old one unless its user asks for a size of their own."""
    return new if new.chunk_from == "user" else new.model_copy(update={"chunk": old.chunk, "chunk_from": "user"})


def in_the_way(old: Spec, new: Spec) -> list[str]:
    """Say what keeps one sweep from growing into another, as `difference` does; axes that have only grown do not."""
    held = {name for name, values in old.axes.items() if set(map(key, values)) <= set(map(key, new.axes.get(name, ())))}
    lines = difference(old.document(), with_chunk_of(old, new).document())
    return [line for line in lines if line.partition(":")[0] not in {f"axes.{name}" for name in held}]


def grown(spec: Spec, plans: Sequence[Plan]) -> Plan:
    """Return the plan of a sweep that others have grown into, what they are made of first.

    Args:
        spec: the sweep, of which each of the others is a part.
        plans: the others.
    """
    earlier: list[Grid] = []
    for plan in plans:
        grid = places_in(plan.spec, spec)
        if grid is None:
            raise ValueError("a sweep is no part of what it is to grow into")
        for one in (*plan.earlier, {name: range(len(places)) for name, places in grid.items()}):
            moved = {name: [grid[name][place] for place in one[name]] for name in spec.axes}
            if moved not in earlier:
                earlier.append(moved)
    whole = {name: list(range(len(values))) for name, values in spec.axes.items()}
    return Plan(spec, tuple(one for one in earlier if one != whole) if earlier != [whole] else ())


def key(value: Any) -> Any:
    """Return what a value of an axis is known by: itself, or of a map and a target all that decides its results."""
    return json.dumps(value.identity(), sort_keys=True) if isinstance(value, Entry) else value
