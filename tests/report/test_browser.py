"""The page in a real browser: headless Chromium of the system, driven by Playwright."""

import shutil
import warnings
from itertools import pairwise
from pathlib import Path

import pytest

from stablessm.cli import main

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="NO CHROMIUM: the report is not looked at in a browser (tests/report/chromium.sh)"
)


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with warnings.catch_warnings(), sync_playwright() as driver:
        warnings.simplefilter("ignore")
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def path(results, tmp_path_factory):
    file = tmp_path_factory.mktemp("page") / "report.html"
    with pytest.raises(SystemExit):
        main(["report", "--out", str(results), "-o", str(file)])
    return file


@pytest.fixture
def page(browser, path):
    """The page, opened; afterwards no error, no warning and no request has been seen."""
    with watched(browser, path) as opened:
        yield opened


class watched:
    def __init__(self, browser, path, **options):
        self.page = browser.new_page(accept_downloads=True, **options)
        self.wrong, self.path = [], path
        self.page.on("console", lambda one: self.wrong.append(one.text) if one.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda one: self.wrong.append(str(one)))
        self.page.on("request", lambda one: self.requested(one.url))

    def requested(self, url):
        if url != self.path.as_uri() and not url.startswith(("blob:", "data:")):
            self.wrong.append(url)

    def __enter__(self):
        self.page.goto(self.path.as_uri())
        return self.page

    def __exit__(self, kind, *rest):
        self.page.close()
        assert kind is not None or self.wrong == []


def drawn(page):
    explorer = page.locator("#experiment-small .explorer")
    explorer.scroll_into_view_if_needed()
    page.locator("#experiment-small .explorer[data-drawn=yes]").wait_for()
    return explorer


def curves(explorer):
    named = "one => one.data.map((curve) => curve.name).filter((name) => name !== undefined)"
    return explorer.locator(".plot").evaluate(named)


def axis(explorer, name):
    return explorer.locator(".plot").evaluate(f"one => [one._fullLayout.{name}.type, ...one._fullLayout.{name}.range]")


def test_curves_are_drawn_and_every_control_acts(page):
    explorer = drawn(page)
    assert explorer.locator("svg.main-svg .scatterlayer .trace").count() == 2
    first = curves(explorer)
    assert len(first) == 2 and "mine" in first[1]
    direct = explorer.get_by_role("button", name="direct")
    direct.click()
    assert direct.get_attribute("aria-pressed") == "false" and curves(explorer) == first[1:]
    direct.click()
    assert curves(explorer) == first
    assert axis(explorer, "xaxis")[0] == "log"
    explorer.get_by_label("log x").uncheck()
    assert axis(explorer, "xaxis")[0] == "linear"
    _, low, high = axis(explorer, "xaxis")
    explorer.get_by_role("button", name="zoom in").click()
    _, near, far = axis(explorer, "xaxis")
    assert far - near == pytest.approx((high - low) / 2)
    explorer.get_by_role("button", name="zoom out").click()
    explorer.get_by_role("button", name="whole").click()
    assert axis(explorer, "xaxis")[1:] == pytest.approx([low, high])
    which = explorer.get_by_label("what is drawn")
    loss = which.locator("option", has_text="training loss").last.get_attribute("value")
    which.select_option(loss)
    explorer.get_by_label("log y").check()
    assert axis(explorer, "yaxis")[0] == "log"
    with_ranges = explorer.locator(".plot").evaluate("one => one.data.length")
    explorer.get_by_label("ranges").uncheck()
    assert explorer.locator(".plot").evaluate("one => one.data.length") < with_ranges
    explorer.get_by_label("one curve for each").select_option("learning_rate")
    assert len(curves(explorer)) == 4
    explorer.get_by_label("along x").select_option("parameterization")
    assert axis(explorer, "xaxis")[0] == "category"
    which.select_option(which.locator("option", has_text="outcome").first.get_attribute("value"))
    assert explorer.locator(".plot").evaluate("one => one.data[0].type") == "heatmap"


def test_curves_can_be_read_as_a_table(page):
    explorer = drawn(page)
    explorer.get_by_role("button", name="as a table").click()
    table = explorer.locator("table")
    assert table.locator("tbody tr").count() == 4
    assert table.locator("tbody tr").first.locator("td").first.text_content() == "0.5"


def test_hovering_tells_the_value(page):
    explorer = drawn(page)
    explorer.locator(".scatterlayer .trace .points path").first.hover(force=True)
    explorer.locator(".hoverlayer .hovertext").first.wait_for()
    assert "direct" in explorer.locator(".hoverlayer").text_content()


def test_tables_sort_and_are_saved(page):
    table = page.locator("table[data-file='small-1']")
    heading = table.locator("th[data-name=median_rate]")
    first = table.locator("tbody tr").first.locator("th")
    assert first.text_content() == "direct"
    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "ascending" and first.text_content() == "direct"
    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "descending" and "mine" in first.text_content()
    held = page.locator(".held", has=table)
    with page.expect_download() as saved:
        held.get_by_role("button", name="CSV").click()
    text = Path(saved.value.path()).read_text()
    assert text.splitlines()[0] == "parameterization,median_rate,median_rate_low,median_rate_high"
    assert text.splitlines()[2] == "direct,0.003,0.001,0.01"
    with page.expect_download() as saved:
        held.get_by_role("button", name="LaTeX").click()
    text = Path(saved.value.path()).read_text()
    assert r"\textless{}b\textgreater{}mine \& co" in text and r"$1.5 \times 10^{7}$" in text
    assert text.count("\\\\") == 3 and r"median\_rate" in text


def test_figures_mathematics_and_sounds_are_there(page):
    page.locator("html[data-figures=ready]").wait_for()
    assert page.locator("figure img:not([data-packed])").count() == 3
    shown = "every => every.every((one) => one.naturalWidth > 0 && one.alt)"
    assert page.locator("figure .sheet img").evaluate_all(shown)
    assert page.locator("#maps-verdicts td math mfrac").first.bounding_box()["height"] > 10
    heard = "one => new Promise((done) => { one.onloadedmetadata = () => done(one.duration); one.load(); })"
    assert page.locator("audio").evaluate(heard) == pytest.approx(0.1)
    assert page.locator("#claims a[href='#experiment-small']").count() == 1


def test_the_keyboard_reaches_everything_in_order(page):
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    explorer = drawn(page)
    explorer.get_by_label("what is drawn").focus()
    seen, packed = [], explorer.get_attribute("data-curves")
    for _ in range(8):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.textContent || document.activeElement.id"))
    assert seen.index("direct") < seen.index(f"{packed}-log-x") < seen.index(f"{packed}-log-y")
    explorer.get_by_role("button", name="direct").focus()
    page.keyboard.press("Space")
    assert "direct" not in curves(explorer)
    name = "(one.textContent.trim() || one.labels?.length || one.getAttribute('aria-label') || one.alt)"
    nameless = f"every => every.filter((one) => !{name}).length"
    assert page.locator("button, select, input, audio, img").evaluate_all(nameless) == 0
    levels = page.locator("main :is(h1,h2,h3,h4)").evaluate_all("every => every.map((one) => Number(one.tagName[1]))")
    assert levels[0] == 1 and all(after - before <= 1 for before, after in pairwise(levels))


def test_dark_and_light_each_have_their_colours(page):
    explorer = drawn(page)
    ground = "getComputedStyle(document.body).backgroundColor"
    colour = "one => one.data.find((curve) => curve.name === 'direct').line.color"
    light = page.evaluate(ground), explorer.locator(".plot").evaluate(colour)
    page.emulate_media(color_scheme="dark")
    page.wait_for_timeout(200)
    dark = page.evaluate(ground), explorer.locator(".plot").evaluate(colour)
    assert light[0] != dark[0] and light[1] == "#000000" and dark[1] == "#d9d9d9"


def test_a_phone_does_not_scroll_sideways(browser, path):
    with watched(browser, path, viewport={"width": 360, "height": 740}) as page:
        explorer = drawn(page)
        explorer.get_by_role("button", name="as a table").click()
        page.locator("details").evaluate_all("every => every.forEach((one) => { one.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_print_holds_figures_and_tables_and_no_controls(page):
    page.locator("html[data-figures=ready]").wait_for()
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible() and not page.locator(".exports").first.is_visible()
    assert page.locator("figure img").first.is_visible() and page.locator("table").first.is_visible()
    assert len(page.pdf(format="A4")) > 10000


SOME = ("maps", "largest_rate", "spring", "sequential_mnist")


@pytest.mark.parametrize("names", [SOME, pytest.param((), marks=pytest.mark.slow)], ids=["some", "all"])
def test_the_page_of_the_repository_is_small_and_quick(browser, tmp_path, monkeypatch, names):
    from stablessm.sweeps.places import checkout

    monkeypatch.chdir(checkout())
    file = tmp_path / "report.html"
    with pytest.raises(SystemExit):
        main(["report", *names, "-o", str(file)])
    assert file.stat().st_size < 6_000_000
    with watched(browser, file, viewport={"width": 390, "height": 800}) as page:
        page.locator("html[data-figures=ready]").wait_for()
        assert page.evaluate("performance.getEntriesByType('navigation')[0].duration") < 3000
        traces = "one.plot.querySelectorAll('.trace, .heatmaplayer image').length"
        counts = page.evaluate(f"Promise.all(explorers.map((one) => one.open().then(() => {traces})))")
        assert len(counts) >= len(SOME) and all(counts)
        page.locator("details").evaluate_all("every => every.forEach((one) => { one.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
