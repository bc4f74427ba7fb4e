"""Maps that share a compiled program: the results are those of a program each, and one map's trouble is its own."""

import dataclasses
import json

import numpy as np
import pytest

from stablessm.measurements import MEASUREMENTS
from stablessm.measurements.fit_programs import lr_stability
from stablessm.parameterizations import Family
from stablessm.sweeps.run import execute
from stablessm.training.outcomes import OUTSIDE_DOMAIN

JOINT = MEASUREMENTS["lr_stability"]
ALONE = dataclasses.replace(JOINT, joins_maps=False)


def refuses_families(static, settings):
    """Build the program of a map; of several, fail."""
    if isinstance(static["parameterization"], Family):
        raise RuntimeError("no program for several maps")
    return lr_stability(static, settings)


SPEC = {
    "name": "families",
    "measurement": "lr_stability",
    "chunk": 4,
    "axes": {
        "parameterization": ["exp", "best", {"formula": "1/cosh(w)", "label": "sech"}],
        "link": ["continuous"],
        "target": ["polynomial"],
        "optimizer": ["gradient_descent"],
        "width": [3],
        "seed": [0, 1],
        "constant_b": [0.1, 0.3],
        "learning_rate": [1e-3, 1e3],
    },
    "settings": {"steps": 5, "records": 5, "horizon": 8, "fastest_decay": 0.6},
}


@pytest.fixture(scope="module")
def go(tmp_path_factory):
    root = tmp_path_factory.mktemp("families")

    def call(folder, measurement, **rest):
        return execute(SPEC, **{"out": root / folder, "measurements": {"lr_stability": measurement}, **rest})

    return call


@pytest.fixture(scope="module")
def joint(go):
    return go("joint", JOINT)


@pytest.fixture(scope="module")
def alone(go):
    return go("alone", ALONE)


def compiles(result):
    return json.loads(result.path.with_suffix(".provenance.json").read_text())["compiles"]


def test_joined_maps_give_what_each_gives_alone(joint, alone):
    assert (compiles(joint), compiles(alone)) == (1, 3)
    left = (joint.dataset.outcome == OUTSIDE_DOMAIN).any(joint.dataset.outcome.dims[1:])
    assert left.values.tolist() == [False, False, True]  # only a user's formula has a domain to leave
    for name, values in joint.dataset.data_vars.items():
        if values.dtype.kind == "f":
            np.testing.assert_allclose(values, alone.dataset[name], rtol=1e-5, err_msg=name)
        else:
            np.testing.assert_array_equal(values, alone.dataset[name], err_msg=name)


def test_a_family_that_cannot_be_compiled_is_compiled_map_by_map(go, alone):
    program = f"{__name__}:{refuses_families.__name__}"
    parted = go("parted", dataclasses.replace(JOINT, program=program))
    assert parted.failures == {} and compiles(parted) == 3
    assert parted.path.read_bytes() == alone.path.read_bytes()


def test_a_resumed_sweep_compiles_the_same_programs_and_ends_with_the_same_bytes(go, joint):
    def interrupt(progress):
        if progress.done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        go("resumed", JOINT, progress=interrupt)
    assert go("resumed", JOINT).path.read_bytes() == joint.path.read_bytes()
