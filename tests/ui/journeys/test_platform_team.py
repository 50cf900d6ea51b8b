"""A platform team looks at what it offers: Compositions, definitions, packages and Operations."""

import re

import pytest
import pytest_asyncio
from playwright.async_api import expect

from crossply.control.kinds import COMPOSITION, REVISION
from crossply.kinds.composition_revision import COMPOSITION_NAME
from tests.support.browser import errors_of
from tests.support.programs import needs
from tests.support.ui.running_platform import MANAGER, SHOP, until
from tests.support.ui.screenshots import WIDE, take_screenshot
from tests.support.ui.shop_platform import SHOP_COMPOSITION, WEB, WEB_TEMPLATE

pytestmark = [
    needs("chromium"),
    pytest.mark.xdist_group("browser"),
    pytest.mark.asyncio(loop_scope="session"),
]


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def second_revision(platform):
    """The Composition of shops with a label more, and the name of its first revision; all shops follow it."""
    first = (await platform.get(SHOP, "bakery", "default"))["spec"]["crossplane"]["compositionRevisionRef"][
        "name"
    ]
    template = WEB_TEMPLATE.replace("  region:", "  tier: gold\n  region:")
    step = {**WEB, "input": {**WEB["input"], "inline": {"template": template}}}
    pipeline = [
        step if entry["step"] == "web-servers" else entry for entry in SHOP_COMPOSITION["spec"]["pipeline"]
    ]
    edited = {**SHOP_COMPOSITION, "spec": {**SHOP_COMPOSITION["spec"], "pipeline": pipeline}}
    await platform.apply(COMPOSITION, edited, MANAGER)

    def follows(obj):
        return obj["spec"]["crossplane"]["compositionRevisionRef"]["name"] != first

    await until(platform, SHOP, "bakery", "default", follows)
    return first


async def test_a_pipeline_is_a_picture_and_a_revision_shows_its_effect(
    browser, shops, second_revision, platform
):
    page = await shops.open(browser, "/compositions", viewport=WIDE)
    await page.get_by_role("link", name="shop", exact=True).click()
    steps = page.get_by_role("list", name="Pipeline").get_by_role("listitem")
    await expect(steps.filter(has_text="web-servers")).to_contain_text("Healthy")
    revisions = page.get_by_role("region", name="Revisions")
    old = revisions.get_by_role("row").filter(has_text=second_revision)
    await expect(revisions.get_by_role("row").filter(has_text="newest")).to_contain_text("2")
    await take_screenshot(page, "composition")
    await old.get_by_role("link", name="What would change").click()
    plan = page.locator("#plan")
    await expect(plan).to_contain_text("stay as they are", timeout=60_000)
    bakery = plan.get_by_role("listitem").filter(has_text="Shop/bakery").first
    await expect(bakery).to_contain_text("data.tier")
    await expect(bakery).to_contain_text("gold")
    await take_screenshot(page, "plan-of-a-revision")
    listed = await platform.list(REVISION, label_selector=f"{COMPOSITION_NAME}=shop")
    assert len(listed.items) == 2
    assert errors_of(page) == []


async def test_a_field_of_a_schema_can_be_searched(browser, shops):
    page = await shops.open(browser, "/definitions", viewport=WIDE)
    await page.get_by_role("link", name="Shop", exact=True).click()
    schema = page.get_by_role("region", name="Schema")
    await expect(schema).to_contain_text("How many web servers answer.")
    await page.keyboard.press("/")
    await page.keyboard.type("backups")
    await expect(schema.get_by_text("replicas", exact=True)).to_be_hidden()
    backups = schema.get_by_role("listitem").filter(has_text="backups").last
    await expect(backups).to_contain_text("integer")
    await expect(backups).to_contain_text("default 7")
    await expect(schema.get_by_role("status")).to_have_text("1 found")
    assert errors_of(page) == []


async def test_a_function_names_the_compositions_that_call_it(browser, shops):
    page = await shops.open(browser, "/packages")
    row = page.get_by_role("row").filter(has_text="function-go-templating")
    await expect(row).to_contain_text("1 Composition")
    await row.get_by_role("link").click()
    await expect(page.get_by_role("link", name="shop", exact=True)).to_be_visible()
    await page.get_by_role("link", name="Show the last lines").click()
    await expect(page.locator("#log")).to_contain_text("Functions that are built in have no log")
    assert errors_of(page) == []


async def test_the_overview_shows_how_functions_do(browser, shops):
    page = await shops.open(browser)
    figures = page.get_by_role("region", name="Functions")
    row = figures.get_by_role("row").filter(has_text="function-go-templating")
    await expect(row.get_by_role("cell").nth(1)).to_have_text(re.compile(r"[1-9]\d*"))
    assert errors_of(page) == []


async def test_why_an_operation_failed_is_on_its_page(browser, shops):
    page = await shops.open(browser, "/operations", viewport=WIDE)
    await expect(page.get_by_role("row").filter(has_text="nightly-report")).to_contain_text("0 3 * * *")
    broken = page.get_by_role("row").filter(has_text="broken")
    await expect(broken).to_contain_text("Failed")
    await take_screenshot(page, "operations")
    await broken.get_by_role("link").first.click()
    await expect(page.get_by_role("main")).to_contain_text("no printer")
    assert errors_of(page) == []
