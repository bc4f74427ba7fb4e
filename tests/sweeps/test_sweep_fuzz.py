"""Declarations of any shape: a sweep, or one sentence; and nothing is written outside of the folder of results."""

import copy
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stablessm.sweeps.declarations import load_spec
from stablessm.sweeps.errors import SpecError

TEXT = """
name = "mine"
measurement = "toy"
chunk = 4
[axes]
parameterization = ["exp", {name = "best", constants = {b = 0.1}}, {formula = "1/(w**2+1)"}]
seed = [0, 1]
learning_rate = {log = [1e-2, 1, 3]}
[settings]
steps = 3
levels = [1.0, 2.0]
[scale.full]
axes.seed = {range = 3}
"""
CORPUS = [
    "", "\x00", "=", "[", "[axes", "name = ", "a.b.c = 1", "[[axes]]", "axes = 3", "settings = []",
    "scale = {quick = 1}",
    'name = "../../up"', 'name = "/abs"', 'name = ""', 'name = "a/b"', 'name = "CON"', 'name = "x\\u0000y"',
    f'name = "{"x" * 300}"', 'name = "-"', "chunk = 1e400", "chunk = -0", "chunk = true",
    "chunk = 99999999999999999999",
    "[axes]\nseed = [1e9]", "[axes]\nseed = [0, 0.0]", "[axes]\nseed = {range = 99999999999}", "[axes]\nseed = [[1]]",
    "[axes]\nlearning_rate = [nan]", "[axes]\nlearning_rate = [inf]", "[axes]\nlearning_rate = [1979-05-27]",
    "[axes]\nlearning_rate = {log = [0, 1, 3]}", "[axes]\nlearning_rate = {log = [1, 2, 1e9]}",
    "[axes]\nlearning_rate = {log = [1, 2, 3], linear = [1, 2, 3]}", "[axes]\nwidth = [99999]", "[axes]\nnobody = [1]",
    '[axes]\nparameterization = [{formula = "__import__(\'os\').system(\'touch hacked\')"}]',
    '[axes]\nparameterization = [{formula = "().__class__.__bases__"}]',
    '[axes]\nparameterization = [{formula = "w" }]',
    '[axes]\nparameterization = [{formula = "exp(exp(exp(exp(exp(w)))))"}]',
    '[axes]\nparameterization = [{formula = "w**w**w**w"}]', '[axes]\nparameterization = [{formula = ""}]',
    f'[axes]\nparameterization = [{{formula = "{"(" * 500}w{")" * 500}"}}]', '[axes]\nparameterization = [{}]',
    '[axes]\nparameterization = [{name = "best", constants = {b = nan}}]', "[settings]\nsteps = 0",
    "[settings]\nlevels = {}",
    '[name]\n"\\n" = {"\\u001f" = 1}', '[settings]\n"\\n\\u2028" = 1', '"a\\nb" = 1',
    '[settings]\nmode = """\\u0007"""', f"x = {'[' * 2000}{']' * 2000}",
]  # fmt: skip
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8),
    st.sampled_from(["exp", "best", "w", "..", "/"]),
)  # fmt: skip
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
PLACES = [
    ("name",), ("measurement",), ("chunk",), ("axes",), ("axes", "seed"), ("axes", "learning_rate"), ("axes", "width"),
    ("axes", "parameterization"), ("settings",), ("settings", "steps"), ("settings", "levels"), ("scale",),
    ("scale", "full"), ("scale", "full", "axes"), ("analyses",), ("figures",), ("title",), ("nobody",),
]  # fmt: skip


def tried(source, measurements):
    """Load it: a spec, or one sentence."""
    try:
        return load_spec(source, measurements=measurements)
    except SpecError as error:
        assert str(error).endswith(".") and str(error).isprintable(), error
        return None


@pytest.fixture(scope="module")
def toys():
    from toy_measurement import MEASUREMENTS

    return MEASUREMENTS


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(place=st.sampled_from(PLACES), value=VALUES)
def test_any_value_at_any_key(toys, place, value):
    from toy_measurement import BASE

    document = copy.deepcopy(BASE)
    table = document
    for key in place[:-1]:
        table = table.setdefault(key, {})
    table[place[-1]] = value
    spec = tried(document, toys)
    if spec is not None:
        assert Path(spec.name).name == spec.name and not spec.name.startswith(".")
        assert load_spec(spec.document(), measurements=toys) == spec


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_text_that_was_a_declaration(toys, data):
    content = bytearray(TEXT.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        how = data.draw(st.sampled_from(["flip", "delete", "insert", "double"]))
        if how == "flip":
            content[at] ^= 1 << data.draw(st.integers(0, 7))
        elif how == "delete":
            del content[at : at + data.draw(st.integers(1, 20))]
            content = content or bytearray(b"x")
        elif how == "insert":
            content[at:at] = data.draw(st.sampled_from([b"\n", b'"', b"[", b"}", b"=", b"\xff", b"1e999", b"# ", b"."]))
        else:
            content += content[at:]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "mine.toml"
        file.write_bytes(content)
        tried(file, toys)
        assert [path.name for path in Path(folder).iterdir()] == ["mine.toml"]


@pytest.mark.parametrize("text", CORPUS, ids=range(len(CORPUS)))
@pytest.mark.parametrize("alone", [True, False], ids=["alone", "in a declaration"])
@pytest.mark.matrix(2)
def test_the_corpus(toys, tmp_path, monkeypatch, text, alone):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "mine.toml"
    key = text.partition("\n")[2].partition("=")[0].strip() if text.startswith("[") else text.partition("=")[0].strip()
    rest = "\n".join(line for line in TEXT.splitlines() if not key or not line.startswith(key))
    head, table, _ = text.partition("\n")
    if alone:
        whole = text
    elif table and head in rest.splitlines():
        whole = rest.replace(head, text, 1)
    else:
        whole = text + "\n" + rest
    file.write_bytes(whole.encode(errors="surrogatepass"))
    spec = tried(file, toys)
    assert spec is None or ("/" not in spec.name and spec.name not in (".", ".."))
    assert [path.name for path in tmp_path.iterdir()] == ["mine.toml"]
