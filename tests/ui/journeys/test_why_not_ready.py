"""An application team sees after one click why its shop is not ready."""

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


async def test_the_overview_shows_the_reason_and_a_click_shows_the_unready_resource_below(browser, shops):
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
