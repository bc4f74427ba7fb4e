"""Figures for papers: as wide as a column, all of it smaller by one factor, letters that can be read."""

import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from stablessm.plotting.presets import LEAST_LETTER, PRESETS, Preset, fit
from stablessm.plotting.saving import drawn, rendered


def figure_of(width):
    figure = Figure(figsize=(width, 3.0), layout="constrained")
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], marker="o", markersize=6.0, linewidth=2.0, label="a line")
    axes.scatter([0], [1], s=36.0)
    axes.set_title("a title", fontsize=8.0)
    axes.set_xlabel("steps")
    figure.legend()
    return figure


def test_all_of_it_is_smaller_by_one_factor():
    figure = figure_of(6.5)
    letters = {text: text.get_fontsize() for text in figure.findobj(Text)}
    found = fit(figure, Preset((1.0, 5.2), ""))
    assert found.width == pytest.approx(5.2) and figure.get_size_inches() == pytest.approx([5.2, 2.4])
    for text, before in letters.items():
        assert text.get_fontsize() == pytest.approx(0.8 * before)
    (line,), (points,) = figure.axes[0].lines, figure.axes[0].collections
    assert (line.get_linewidth(), line.get_markersize()) == pytest.approx((1.6, 4.8))
    assert points.get_sizes() == pytest.approx([0.64 * 36.0])


def test_the_narrowest_width_is_taken_whose_letters_can_be_read():
    assert fit(figure_of(4.0), PRESETS["icml"]).width == pytest.approx(3.25)
    assert fit(figure_of(8.0), PRESETS["icml"]).width == pytest.approx(6.75)
    assert fit(figure_of(3.0), PRESETS["icml"]).width == pytest.approx(3.0)
    too_wide = fit(figure_of(20.0), PRESETS["icml"])
    assert too_wide.width == pytest.approx(6.75) and too_wide.letters < LEAST_LETTER


def test_letters_are_those_of_the_text_and_embedded():
    content = rendered(drawn(lambda: figure_of(6.0), preset=PRESETS["neurips"]), "pdf")
    assert b"STIXGeneral" in content and b"DejaVu" not in content
    assert b"STIXGeneral" not in rendered(drawn(lambda: figure_of(6.0)), "pdf")
