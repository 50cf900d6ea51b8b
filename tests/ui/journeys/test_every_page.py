"""What holds for every page: screen readers and phones can use it, and hostile objects run nothing."""

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import expect

from crossply.control.kinds import COMPOSITION, FUNCTION
from tests.support.browser import errors_of
from tests.support.programs import needs
from tests.support.ui import shop_platform
from tests.support.ui.running_platform import DEFINITION, MANAGER
from tests.support.ui.screenshots import PHONE

pytestmark = [
    needs("chromium"),
    pytest.mark.xdist_group("browser"),
    pytest.mark.asyncio(loop_scope="session"),
]
PAGES = (
    "/",
    "/composites",
    "/resources/shop.example.org/Shop/default/cinema",
    "/runs",
    "/compositions",
    "/compositions/shop",
    "/definitions",
    "/definitions/shops.shop.example.org",
    "/playground/shops.shop.example.org",
    "/packages",
    "/packages/functions/function-go-templating",
    "/packages/functions/function-go-templating/log",
    "/operations",
    "/operations/operations/broken",
    "/operations/cronoperations/nightly-report",
)
HOSTILE = "<script>window.hacked=1</script>\"'><img src=x onerror=window.hacked=1>{{7*7}}"


DARK = {"runOnly": ["color-contrast"]}
"""What a dark page can have that a light one has not."""


@pytest.mark.parametrize(("theme", "rules", "pages"), [("light", {}, PAGES), ("dark", DARK, PAGES[::3])])
async def test_axe_finds_nothing_serious_and_no_page_is_wider_than_a_phone(
    browser, shops, theme, rules, pages
):
    page = await shops.open(browser, viewport=PHONE, color_scheme=theme)
    for path in pages:
        await page.goto(shops.url + path)
        violations = (await Axe().run(page, options=rules)).response["violations"]
        serious = [entry for entry in violations if entry["impact"] in ("serious", "critical")]
        assert not serious, (path, [(entry["id"], entry["nodes"][0]["html"]) for entry in serious])
        assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], path
    assert errors_of(page) == []


async def test_the_overview_fits_a_phone(browser, shops):
    page = await shops.open(browser, viewport=PHONE)
    await expect(page.get_by_role("region", name="Needs attention")).to_contain_text("arcade")


async def test_hostile_definitions_compositions_and_functions_run_nothing(browser, shops, platform):
    schema = {"type": "object", "properties": {"spec": _hostile_schema(), "status": {"type": "object"}}}
    definition = _renamed(shop_platform.SHOPS, "traps", "Trap")
    definition["spec"]["versions"] = [
        {"name": "v1", "served": True, "referenceable": True, "schema": {"openAPIV3Schema": schema}}
    ]
    await platform.apply(DEFINITION, definition, MANAGER)
    await platform.apply(COMPOSITION, _hostile_composition(), MANAGER)
    function = {**shop_platform.function("trap"), "spec": {"package": f"example.org/{HOSTILE}:v1"}}
    await platform.apply(FUNCTION, function, MANAGER)
    page = await shops.open(browser, "/definitions")
    for path in (
        "/definitions",
        "/definitions/traps.shop.example.org",
        "/playground/traps.shop.example.org",
        "/compositions",
        "/compositions/trap",
        "/packages",
        "/packages/functions/trap",
        f"/runs?kind={HOSTILE}&name={HOSTILE}",
        f"/compositions/{HOSTILE.replace('/', '').partition('{')[0]}",
    ):
        response = await page.goto(shops.url + path)
        assert response is not None
        assert response.status in (200, 404), path
        await expect(page.get_by_role("main")).to_be_visible()
        assert await page.evaluate("window.hacked") is None, path
        assert await page.locator("img").count() == 0, path
        assert len(await page.content()) < 1_000_000, path
    await page.goto(f"{shops.url}/playground/traps.shop.example.org")
    await page.locator("#text").fill(f"apiVersion: {HOSTILE}\nkind: '{'<b>' * 50}'\n")
    await expect(page.locator("#problems")).to_contain_text("window.hacked")
    assert await page.evaluate("window.hacked") is None
    assert [error for error in errors_of(page) if "404" not in error] == []
    await platform.delete(FUNCTION, "trap")
    await platform.delete(COMPOSITION, "trap")
    await platform.delete(DEFINITION, "traps.shop.example.org")


def _hostile_schema() -> dict:
    field = {"type": "string", "description": HOSTILE + "d" * 100_000, "default": HOSTILE, "enum": [HOSTILE]}
    return {"type": "object", "properties": {"x": field, HOSTILE: {**field, "type": "string"}}}


def _hostile_composition() -> dict:
    template = HOSTILE + "x" * 1_000_000
    step = {**shop_platform.WEB, "step": HOSTILE, "functionRef": {"name": HOSTILE}}
    step["input"] = {**shop_platform.WEB["input"], "kind": HOSTILE, "inline": {"template": template}}
    composition = _renamed(shop_platform.SHOP_COMPOSITION, "trap", "")
    composition["spec"]["compositeTypeRef"] = {"apiVersion": shop_platform.VERSION, "kind": "Trap"}
    composition["spec"]["pipeline"] = [step]
    return composition


def _renamed(obj: dict, name: str, kind: str) -> dict:
    spec = dict(obj["spec"])
    if kind:
        spec["names"] = {"kind": kind, "plural": name}
        name = f"{name}.{shop_platform.GROUP}"
    return {**obj, "metadata": {"name": name}, "spec": spec}
