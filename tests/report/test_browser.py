"""Pages in a real browser: accessible, fit for a phone, in both themes, with tables that sort."""

import shutil

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="needs the extra dev")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs the extra dev")

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]
FLAGS += ["--disable-dev-shm-usage"]  # containers have little of it, and the browser dies

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium; apt-get install chromium")


@pytest.fixture
def browser():
    """A browser of its own for each test, so that one that dies takes no other test with it."""
    with playwright.sync_playwright() as driver:
        try:
            started = driver.chromium.launch(executable_path=BROWSER, args=FLAGS)
        except playwright.Error as error:
            pytest.skip(f"Chromium does not start here: {str(error).splitlines()[0]}")
        yield started
        started.close()


@pytest.fixture
def visit(browser):
    """visit(path, width, theme) opens a page."""
    contexts = []

    def opened(path, *, width=1200, theme="light"):
        size = {"width": width, "height": 900}
        contexts.append(browser.new_context(viewport=size, color_scheme=theme))
        contexts[-1].set_default_timeout(240_000)  # of a loaded machine
        page = contexts[-1].new_page()
        page.goto(path.as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture(scope="module", params=["study", "schedule", "advice"])
def any_page(request, reported, advice_html, schedule_html):
    """Each kind of page."""
    study = reported[1] / "report.html"
    return {"study": study, "schedule": schedule_html, "advice": advice_html}[request.param]


@pytest.mark.parametrize(
    ("theme", "width"), [("light", 1200), ("dark", 1200), ("light", 360), ("dark", 360)]
)
def test_a_page_has_no_barrier_that_axe_knows(visit, any_page, theme, width):
    page = visit(any_page, width=width, theme=theme)
    page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")

    found = axe.Axe().run(page).response

    barriers = [(v["id"], v["nodes"][0]["html"][:200]) for v in found["violations"]]
    assert len(found["passes"]) > 10
    assert barriers == []


def test_axe_finds_a_barrier_that_is_there(visit, tmp_path):
    bad = tmp_path / "bad.html"
    bad.write_text('<html><img src="x.png"><p style="color:#ccc;background:#fff">pale</p></html>')

    found = axe.Axe().run(visit(bad)).response["violations"]

    assert {"image-alt", "color-contrast", "html-has-lang"} <= {v["id"] for v in found}


@pytest.mark.parametrize("width", [360, 768, 1200])
def test_nothing_is_wider_than_the_screen(visit, any_page, width):
    page = visit(any_page, width=width)

    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(("theme", "paper"), [("light", 251), ("dark", 20)])
def test_the_page_follows_the_theme(visit, any_page, theme, paper):
    page = visit(any_page, theme=theme)

    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")

    assert colour.startswith(f"rgb({paper}, ")


def test_a_click_on_a_heading_sorts_by_value(visit, reported):
    """Numbers sort as numbers: 1e-05 is before 0.3; a second click turns the order around."""
    page = visit(reported[1] / "report.html")
    page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    table = page.locator("table", has=page.locator("caption", has_text="Time of each worker"))
    button = table.locator("th button", has_text="compute")
    column = 5  # contender, worker, jobs, pull, compute

    def read():
        cells = table.locator(f"tbody tr td:nth-child({column})").all()
        return [float(cell.get_attribute("data-value")) for cell in cells]

    button.click()
    up = read()
    button.click()

    assert up == sorted(up)
    assert read() == sorted(up, reverse=True)
    assert len(up) == 8
    assert button.locator("..").get_attribute("aria-sort") == "descending"
