"""Proofs about gradient descent: SymPy verifies their identities, and no others."""

from dataclasses import replace

import pytest

from stablessm.theory.descent import POTENTIALS, proof, scale_of


@pytest.mark.parametrize("name", POTENTIALS)
def test_identities_hold_and_a_changed_one_does_not(name):
    potential = POTENTIALS[name]
    found = proof(potential)
    assert found.verified and found.claim and len(found.identities) == len(potential.identities)
    (left, right), *rest = potential.identities
    assert not proof(replace(potential, identities=((left, f"2*({right})"), *rest))).verified
    assert not proof(replace(potential, slope=f"2*{potential.slope}")).verified


def test_distances_that_decide():
    assert scale_of(POTENTIALS["quartic"], 0.02) == pytest.approx(5.0)
    assert scale_of(POTENTIALS["root"], 0.5) == pytest.approx(0.25)
    assert scale_of(POTENTIALS["quadratic"], 0.5) == 1
