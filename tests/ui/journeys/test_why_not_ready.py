"""An application team asks why its shop is not ready, and has the answer after a click."""

import pytest
from playwright.async_api import expect

from tests.support.browser import errors_of
from tests.support.programs import needs
from tests.support.ui.screenshots import WIDE, take_screenshot

pytestmark = [
    needs("chromium"),
    pytest.mark.xdist_group("browser"),
    pytest.mark.asyncio(loop_scope="session"),
]


async def test_the_overview_says_why_and_a_click_shows_the_resource_below_that_is_not_ready(browser, shops):
    page = await shops.open(browser, viewport=WIDE)
    attention = page.get_by_role("region", name="Needs attention")
    entry = attention.get_by_role("listitem").filter(has_text="arcade")
    await expect(entry).to_contain_text("more than 5 web servers need an approval")
    await take_screenshot(page, "overview")
    await attention.get_by_role("link", name="Shop cinema").click()
    await expect(page.get_by_role("main")).to_contain_text("ConfigMap cinema-")
    tree = page.get_by_role("tree")
    await expect(tree.get_by_role("treeitem").filter(has_text="Database").first).to_contain_text("Not ready")
    await take_screenshot(page, "not-ready")
    assert errors_of(page) == []
