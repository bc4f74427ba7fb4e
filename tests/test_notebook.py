"""What notebooks show of maps, certificates and networks: whole tables, and nothing of a formula is read as HTML."""

from xml.etree import ElementTree

import jax
import jax.numpy as jnp

from stablessm import PARAMETERIZATIONS, Parameterization
from stablessm.layers import LAYERS
from stablessm.models import Block, Network
from stablessm.theory.certificate import Certificate
from stablessm.theory.statement import CounterExample, Statement


def cells(thing):
    rows = ElementTree.fromstring(thing._repr_html_()).iter("tr")
    return [[cell.text or "" for cell in row] for row in rows]


def test_a_map_is_its_formula_under_every_link():
    head, *rows = cells(PARAMETERIZATIONS["best"])
    assert head == ["link", "decay s(w)", "constants", "reference"] and len(rows) == 3
    assert rows[0][:3] == ["continuous", "1/(a*w**2 + b)", "a = 1, b = 0.5"]
    assert cells(Parameterization.from_formula("exp(w)", name="<b>&"))[1][2] == "none"


def test_a_certificate_is_its_verdicts_and_their_grounds():
    found = (
        Statement("stability", "refuted", "s < 0", counterexample=CounterExample(-1.0, 1.0)),
        Statement("modulus", "proved", "g = 1; slope 2", condition="a > 0"),
    )
    rows = cells(Certificate("direct", "-w", "continuous", (), found))
    assert rows[1] == ["stability", "refuted", "s < 0; counter-example: w = -1, eigenvalue 1"]
    assert rows[2] == ["modulus", "proved", "g = 1; slope 2; holds for: a > 0"]


def test_a_network_is_its_parts_and_their_numbers():
    keys = jax.random.split(jax.random.key(0), 3)
    layer = LAYERS["s4d"].build(PARAMETERIZATIONS["exp"], -jnp.ones(2), inputs=3, key=keys[0])
    model = Network([Block(layer, key=keys[1])], purpose="classification", outputs=2, key=keys[2])
    _, encoder, block, decoder = cells(model)
    assert encoder == ["encoder", "Linear", "", "6"] and decoder == ["decoder", "Linear", "", "8"]
    assert block[:3] == ["block 0", "S4D", "exp"]
    parts = [leaf for leaf in jax.tree.leaves(model.blocks) if hasattr(leaf, "dtype") and leaf.dtype.kind == "f"]
    assert int(block[3]) == sum(leaf.size for leaf in parts)
