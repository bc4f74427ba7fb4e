"""One page out of its parts: a template, styles and scripts of this folder, the drawing library, packed data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from stablessm.report.packing import data_url, drawing, packed, packed_json, size_of, small_picture
from stablessm.report.sections import VERDICT_KINDS, Claim, Map, Picture, Section

LIMIT = 6_000_000
"""Bytes that a page stays below; recordings and animations are left out, and named, before it is passed."""
_GREAT = 250_000
_TEXT = 1_000_000
"""Bytes set aside for what is read without a script: text and tables."""
_SCRIPTS = ("unpacking.js", "tables.js", "explorer.js", "start.js")
STATEMENTS = {
    "stability": "every weight gives a stable eigenvalue",
    "modulus": "one function g(β) bounds how far an eigenvalue moves, relative to its margin, when a weight moves by β",
    "gradient_scale": "the size of the gradient, |f′|/f², in closed form",
    "gradient_over_weight": "the gradient over the weight is bounded",
    "lipschitz": "the memory length 1/|f| has a bounded second derivative",
    "curvature": "one step size is stable for every memory length",
    "criterion": "the map solves f′/f² = 2aw, which makes gradient over weight constant",
}
"""Statement -> what it says, in words."""
_LAMBDA = "<math><mi>λ</mi><mo>=</mo>{}</math>"
_RELATIONS = {
    "continuous": _LAMBDA.format("<mrow><mo>−</mo><mi>s</mi></mrow>"),
    "one-minus": _LAMBDA.format("<mrow><mn>1</mn><mo>−</mo><mi>s</mi></mrow>"),
    "exponential": _LAMBDA.format("<msup><mi>e</mi><mrow><mo>−</mo><mi>s</mi></mrow></msup>"),
}


def page(
    sections: Sequence[Section],
    claims: Sequence[Claim],
    maps: Sequence[Map],
    mathematics: Callable[[str], str],
    sentence: Callable[[str], str],
    *,
    claims_scale: str = "quick",
    version: str = "",
) -> str:
    """Return the page.

    Args:
        sections: of the experiments, in order.
        claims: the published claims, as decided.
        maps: with their verdicts.
        mathematics: text of a formula -> MathML.
        sentence: a sentence of a certificate -> HTML with its formulas as MathML.
        claims_scale: scale of the experiments that the claims are decided from.
        version: of this package.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    own = Environment(
        loader=PackageLoader("stablessm.report", "page"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    own.globals |= {
        "kind": lambda verdict: VERDICT_KINDS.get(verdict, "open"),
        "mathematics": lambda text: Markup(mathematics(text)),
        "sentence": lambda text: Markup(sentence(text)),
        "words": lambda text: str(text).replace("_", " "),
    }
    carried = _Carried()
    shown = [_shown(one, carried) for one in sections]
    carried.drop_figures(shown)
    carried.add_media(shown)
    drawn = any(one["curves"] for one in shown)
    return own.get_template("page.html").render(
        sections=shown,
        groups=_groups(shown),
        names={one.name for one in sections},
        claims=claims,
        claims_scale=claims_scale,
        counts=Counter(one.verdict for one in claims),
        maps=maps,
        statements=STATEMENTS,
        relations={link: Markup(text) for link, text in _RELATIONS.items()},
        figures=sum(len(one["figures"]) + len(one["others"]) for one in shown),
        style=Markup(_own("style.css")),
        script=Markup("\n".join(_own(one) for one in _SCRIPTS)),
        library=Markup(_library()) if drawn else "",
        packed=[(key, Markup(text)) for key, text in carried.texts.items()],
        version=version,
    )


class _Carried:
    """What the page carries packed, by id, and how large it has become."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def add(self, text: str) -> str:
        identity = f"packed-{len(self.texts)}"
        self.texts[identity] = text
        return identity

    def drop_figures(self, shown: Sequence[dict[str, Any]]) -> None:
        """Leave out figures, the largest of the second scale first, until the page is small enough; they are named."""
        held = [(kind, section, one) for kind in ("others", "figures") for section in shown for one in section[kind]]
        held.sort(
            key=lambda entry: (entry[0] == "figures", -len(self.texts.get(entry[2]["packed"], entry[2]["source"])))
        )
        pictures = sum(len(one["source"]) for _, _, one in held)
        size = _TEXT + len(_library()) + sum(map(len, self.texts.values())) + pictures
        for kind, section, one in held:
            if size <= LIMIT:
                break
            size -= len(self.texts.pop(one["packed"], one["source"]))
            section[kind].remove(one)
            section["left_out"].append(one["picture"].path.name)

    def add_media(self, shown: Sequence[dict[str, Any]]) -> None:
        """Fill in recordings and animations, the smallest first, as long as the page stays small enough."""
        left = LIMIT - _TEXT - len(_library()) - sum(map(len, self.texts.values()))
        media = [one for section in shown for one in (*section["moving"], *section["sounds"])]
        for one in sorted(media, key=lambda one: one["path"].stat().st_size):
            left -= one["path"].stat().st_size * 4 // 3
            one["source"] = data_url(one["path"]) if left > 0 else ""


def _shown(section: Section, carried: _Carried) -> dict[str, Any]:
    """Return a section as the template reads it, its figures and curves packed."""
    return {
        "about": section,
        "curves": carried.add(packed_json(section.curves)) if section.curves else "",
        "figures": [_figure(one, carried) for one in section.figures],
        "others": [_figure(one, carried) for one in section.others],
        "left_out": [*section.documents],
        "moving": [{"path": one.path, "picture": one, "source": ""} for one in section.moving],
        "sounds": [{"path": one, "name": one.stem.replace(".", ", "), "source": ""} for one in section.sounds],
    }


def _figure(picture: Picture, carried: _Carried) -> dict[str, Any]:
    """Return a figure as the template reads it: packed SVG, PNG where there is none or only one of a great size."""
    plain = {"picture": picture, "packed": "", "source": "", "width": "", "height": "", "wide": False}
    if picture.path.suffix != ".svg":
        return plain | {"source": data_url(picture.path)}
    text, pixels = packed(drawing(picture.path)), picture.path.with_suffix(".png")
    if len(text) > _GREAT and pixels.exists():
        return plain | {"source": small_picture(pixels)}
    width, height = size_of(picture.path)
    wide = bool(width) and float(width) > 520
    return plain | {"packed": carried.add(text), "width": width, "height": height, "wide": wide}


def _groups(shown: Sequence[dict[str, Any]]) -> list[tuple[str, list[Section]]]:
    """Return the menu: experiments of sweeps, then single training runs and benchmarks."""
    sweeps = [one["about"] for one in shown if one["about"].settings]
    others = [one["about"] for one in shown if not one["about"].settings]
    return [(name, found) for name, found in (("Experiments", sweeps), ("Single runs", others)) if found]


def _own(name: str) -> str:
    return (Path(__file__).parent / "page" / name).read_text(encoding="utf-8")


@cache
def _library() -> str:
    from plotly.offline import get_plotlyjs

    return packed(get_plotlyjs())
