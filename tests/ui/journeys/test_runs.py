"""A user inspects a pipeline: the waterfall, a step, which patch set a field, two runs."""

import re

import pytest
import pytest_asyncio
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import expect

from crossply.runs.client import RunClient
from tests.support.browser import errors_of
from tests.support.patience import PATIENCE
from tests.support.programs import needs
from tests.support.ui.running_platform import MANAGER, SHOP, is_ready, until
from tests.support.ui.screenshots import PHONE, WIDE, take_screenshot
from tests.support.ui.shop_platform import shop

pytestmark = [
    needs("chromium"),
    pytest.mark.xdist_group("browser"),
    pytest.mark.asyncio(loop_scope="session"),
]


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def edited(platform):
    """A shop that was created with one web server, then edited to have two, and the ids of both runs."""
    await platform.apply(SHOP, shop("tailor", replicas=1), MANAGER)
    await until(platform, SHOP, "tailor", "default", is_ready)
    await platform.apply(SHOP, shop("tailor", replicas=2), MANAGER)
    await until(platform, SHOP, "tailor", "default", lambda obj: _composes(obj) == 3 and is_ready(obj))
    runs = []
    while len(runs) < 2:
        runs = await RunClient(platform).list_runs("Shop", "default", "tailor")
        runs = [run for run in runs if run.triggers[0].startswith(("created", "edited"))]
    return runs[1].id, runs[0].id


def _composes(obj):
    crossplane = obj["spec"].get("crossplane") or {}
    return len(crossplane.get("resourceRefs") or ())


async def test_a_step_shows_its_request_and_response_and_which_patch_set_a_field(browser, shops, edited):
    page = await shops.open(browser, "/runs?kind=Shop&namespace=default&name=tailor", viewport=WIDE)
    await page.get_by_role("link", name=edited[0]).click()
    steps = page.get_by_role("region", name="Waterfall")
    await steps.get_by_role("link", name="data function-patch-and-transform").first.click()
    detail = page.locator("#detail")
    row = detail.get_by_role("row").filter(has_text="spec.region")
    await expect(row).to_contain_text("eu-west")
    await expect(row).to_contain_text("patch 1 (FromCompositeFieldPath), from spec.region")
    await take_screenshot(page, "run")
    await take_screenshot(page, "sources-of-fields", "#detail")
    await detail.get_by_text("Response", exact=False).first.click()
    await detail.get_by_label("Find in Response").fill("eu-west")
    await expect(detail.locator("#round-0-1-response").get_by_role("status")).to_have_text("1 found")
    await expect(page).to_have_url(re.compile("step=0"))
    await expect(page.locator("#replay")).to_have_text(f"crossply runs replay {edited[0]}")
    assert errors_of(page) == []


async def test_the_waterfall_is_walked_by_the_keyboard(browser, shops, edited):
    page = await shops.open(browser, f"/runs/{edited[0]}")
    await page.get_by_role("region", name="Waterfall").get_by_role("link").first.focus()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="Step web-servers")).to_be_visible()
    await page.go_back()
    await expect(page.get_by_role("heading", name="Step data")).to_be_visible()


async def test_two_runs_are_compared_and_the_step_that_differs_is_named(browser, shops, edited):
    page = await shops.open(browser, "/runs?kind=Shop&namespace=default&name=tailor", viewport=WIDE)
    await page.get_by_role("radio", name=f"Run {edited[0]} as the first").check()
    await page.get_by_role("radio", name=f"Run {edited[1]} as the second").check()
    await page.get_by_role("button", name="Compare A with B").click()
    main = page.get_by_role("main")
    await expect(main.get_by_role("row").filter(has_text="spec.replicas").first).to_contain_text("2")
    step = main.get_by_role("group").filter(has_text="web-servers").first
    await expect(step).to_contain_text("web-1.data.region")
    await take_screenshot(page, "two-runs-compared")
    assert errors_of(page) == []


async def test_the_step_that_failed_is_the_first_thing_that_a_failed_run_shows(browser, shops, platform):
    runs = await RunClient(platform).list_runs("Shop", "default", "arcade")
    page = await shops.open(browser, f"/runs/{runs[0].id}")
    detail = page.locator("#detail")
    await expect(detail.get_by_role("heading", name="Step web-servers")).to_be_visible()
    await expect(detail).to_contain_text("more than 5 web servers need an approval")


async def test_pages_of_runs_fit_a_phone_and_axe_finds_nothing_serious(browser, shops, edited):
    page = await shops.open(browser, viewport=PHONE)
    for path in (
        f"/runs/{edited[0]}",
        f"/runs/{edited[0]}?effect=0",
        f"/runs/compare?a={edited[0]}&b={edited[1]}",
    ):
        await page.goto(shops.url + path)
        violations = (await Axe().run(page)).response["violations"]
        assert not [entry for entry in violations if entry["impact"] in ("serious", "critical")], path
        assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], path


async def test_a_missing_run_is_reported(browser, shops):
    page = await shops.open(browser, "/runs/000000000000")
    await expect(page.get_by_role("main")).to_contain_text("Not found", timeout=PATIENCE * 1000)
