"""Counts by Kneser and Ney: probabilities that add up to one, and the value of a case that was worked out by hand."""

import numpy as np
import pytest

from stablessm.tasks.kneser_ney import kneser_ney


@pytest.mark.parametrize("order", [1, 2, 4])
@pytest.mark.parametrize("context", [[], [3, 0], [0, 1, 2, 3, 0]])
def test_probabilities_of_what_may_follow_add_up_to_one(order, context):
    train = np.random.default_rng(0).integers(0, 4, 60) % 3  # the token 3 never occurs
    found = [kneser_ney(train, np.array([*context, last]), 4, order=order)[-1] for last in range(4)]
    assert sum(found) == pytest.approx(1) and min(found) > 0


def test_two_tokens_by_hand():
    # 0 1 0 1 0 0: before 0 stand 0 and 1, before 1 stands 0. Too few counts to estimate: half a count is taken off.
    # p_1(0) = (2 - .5)/3 + (.5 + .5)/3 / 2 = 2/3; after 0 come 1, 1, 0: p_2(0|0) = (1 - .5)/3 + 1/3 2/3 = 7/18.
    found = kneser_ney(np.array([0, 1, 0, 1, 0, 0]), np.array([0, 0]), 2, order=2)
    np.testing.assert_allclose(found, [2 / 3, 7 / 18])


def test_a_longer_memory_tells_more_of_a_text_that_has_one_and_pieces_must_fit():
    train, text = np.tile([0, 0, 1, 0, 1, 1], 40), np.tile([0, 0, 1, 0, 1, 1], 5)
    losses = [-np.log(kneser_ney(train, text, 2, order=order)).mean() for order in (1, 2, 3, 4)]
    assert losses == sorted(losses, reverse=True) and losses[3] < 0.1
    with pytest.raises(ValueError, match="`order`"):
        kneser_ney(train, text, 2**16, order=7)
