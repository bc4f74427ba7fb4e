"""Keys of a declaration: where they go, and what is no value for them."""

import pytest

from stablessm.data import DataError
from stablessm.data.loading import load
from stablessm.data.recall import load_recall
from stablessm.runs import load_declaration
from stablessm.sweeps.errors import SpecError


@pytest.mark.parametrize("key", ["width", "widths", "pool_steps", "dropout", "steps", "learning_rate", "seed", "layer"])
def test_a_truth_value_is_no_number(key):
    with pytest.raises(SpecError, match=rf"{key}: it must not be true or false"):
        load_declaration("digits", overrides=[f"{key}=true"])


def test_a_truth_value_stays_where_one_is_asked_for_and_is_no_seed_of_rows():
    assert not load_declaration("digits", overrides=["residual=false"]).model.residual
    with pytest.raises(DataError, match="true or false"):
        load_recall(length=8, seed=True)


def test_options_of_a_layer_reach_the_model_by_either_name():
    one, two = (
        load_declaration("digits", overrides=[f"{key}=bilinear", "options.pool=2"])
        for key in ("options.s4d.rule", "model.options.s4d.rule")
    )
    assert one == two and one.model.options == {"s4d": {"rule": "bilinear"}} and one.options == {"pool": 2}


@pytest.mark.parametrize(
    ("name", "options"),
    [("digits", {"pool": "abc"}),
     ("digits", {"pool": True}), ("digits", {"validation": [1]}), ("digits", {"seed": 1.5}),
     ("recall", {"rows": "abc"})],
)  # fmt: skip
def test_options_of_data_that_are_no_numbers_are_refused_in_a_sentence(name, options):
    with pytest.raises(DataError, match=r"must be an? (integer|number), but got"):
        load(name, **options)
