import dataclasses

import numpy as np
import pytest

from stablessm.sweeps.declarations import load_spec
from stablessm.sweeps.plan import Plan


def plan_of(base, measurements, **rest):
    return Plan(load_spec(base, measurements=measurements, **rest))


def test_counts_and_padding(base, measurements):
    plan = plan_of(base, measurements)
    assert (plan.cells, plan.items, len(plan.combinations)) == (18, 6, 2)
    assert plan.numbers == {0: [0, 1, 2], 1: [3, 4, 5]}
    last = plan.item(5)
    assert (last.combination, last.valid) == (1, 1) and plan.valid(4) == 4
    assert last.traced["seed"].tolist() == [2] * 4 and last.traced["learning_rate"].tolist() == [0.5] * 4


def test_seed_is_outermost_and_learning_rate_innermost(base, measurements):
    item = plan_of(base, measurements).item(0)
    assert item.traced["seed"].tolist() == [0, 0, 0, 1] and item.traced["seed"].dtype == np.uint32
    assert item.traced["learning_rate"].tolist() == np.float32([0.01, 0.1, 0.5, 0.01]).tolist()
    assert item.seeds.tolist() == [0, 1] and item.index.tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize("chunk", [1, 2, 3, 4, 5, 8, 9, 20])
@pytest.mark.parametrize("seeds", [[4], [9, 2, 5], list(range(7))])
def test_every_cell_is_in_one_work_item_with_its_own_seed(base, measurements, chunk, seeds):
    base["axes"]["seed"] = seeds
    plan = plan_of(base, measurements, chunk=chunk)
    cells, most = [], 0
    for number in range(plan.items):
        item = plan.item(number)
        assert item.index.shape == (chunk,) and item.seeds.shape == (plan.starts,)
        assert (item.seeds[item.index] == item.traced["seed"]).all()
        most = max(most, len(set(item.seeds.tolist())))
        for cell in range(item.valid):
            cells.append((item.combination, int(item.traced["seed"][cell]), float(item.traced["learning_rate"][cell])))
    expected = [(c, s, float(np.float32(r))) for c in range(2) for s in seeds for r in (0.01, 0.1, 0.5)]
    assert cells == expected and most == plan.starts


def test_maps_meet_every_link(base, measurements):
    base["axes"]["link"] = ["continuous", "one-minus"]
    plan = plan_of(base, measurements)
    statics = [plan.static(number) for number in range(len(plan.combinations))]
    assert [(one["parameterization"].name, one["parameterization"].link, one["link"]) for one in statics] == [
        ("exp", "continuous", "continuous"), ("exp", "one-minus", "one-minus"),
        ("best", "continuous", "continuous"), ("best", "one-minus", "one-minus"),
    ]  # fmt: skip


def test_no_traced_axes(base, measurements):
    still = {"toy": dataclasses.replace(measurements["toy"], axes={"parameterization": None})}
    base["axes"] = {"parameterization": ["exp", "best"]}
    plan = plan_of(base, still)
    assert (plan.cells, plan.items, plan.starts) == (2, 2, 1) and plan.item(1).traced == {}


def test_a_hundred_thousand_cells_are_each_planned_once(base, measurements):
    base["axes"].update(seed={"range": 1000}, learning_rate={"log": [1e-3, 1, 50]})
    base["chunk"] = 64
    plan = plan_of(base, measurements)
    assert plan.cells == 100_000 and sum(plan.item(number).valid for number in range(plan.items)) == 100_000


def test_a_map_is_given_the_swept_constants_it_has(base, measurements):
    axes = {**measurements["toy"].axes, "constant_b": ()}
    swept = {"toy": dataclasses.replace(measurements["toy"], axes=axes)}
    base["axes"].update(constant_b=[0.1, 0.4])
    plan = plan_of(base, swept)
    (exp,), (best,) = (plan.static(number)["fillings"] for number in range(2))
    assert [one.constants for one in exp] == [{}] and [one.constants["b"] for one in best] == [0.1, 0.4]
    assert "constant_b" not in plan.item(0).traced
    given = plan.item(plan.numbers[1][0]).traced["constant_b"]
    assert set(given.tolist()) == {np.float32(0.1), np.float32(0.4)}
