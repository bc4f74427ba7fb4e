"""Networks as cells of a sweep: the data are those that axes and settings say."""

import pytest

from stablessm import PARAMETERIZATIONS
from stablessm.data import DataError
from stablessm.measurements.network_fit import network_fit
from stablessm.measurements.training import TrainingSettings

RECALL = TrainingSettings(data="recall", options={"length": 6, "vocabulary": 8}, layer=["s4d"], depth=1, states=2)


def test_a_length_that_is_an_axis_takes_the_place_of_that_of_the_options():
    static = {"parameterization": PARAMETERIZATIONS["best"], "width": 2}
    assert network_fit(static, RECALL).data["test"].inputs.shape[1] == 6 + 2
    assert network_fit(static | {"length": 10}, RECALL).data["test"].inputs.shape[1] == 10 + 2
    with pytest.raises(DataError, match="'digits' has no option 'length'"):
        network_fit(static | {"length": 10}, RECALL.model_copy(update={"data": "digits", "options": {}}))
