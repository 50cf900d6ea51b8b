"""The overview, in a real browser."""

import pytest
from playwright.async_api import expect

from crossply.control.kinds import PROVIDER
from tests.support import ui_world as world
from tests.support.browser import errors_of
from tests.support.programs import needs

pytestmark = [
    needs("chromium"),
    pytest.mark.xdist_group("browser"),
    pytest.mark.asyncio(loop_scope="session"),
]


async def test_the_overview_shows_problems_first_and_their_reasons(browser, dashboard, client):
    await world.composite(client, "overview-failing", "shop", world.FAILING)
    await world.composite(client, "overview-fine", "shop")
    page = await dashboard.open(browser)
    attention = page.get_by_role("region", name="Needs attention")
    entry = attention.get_by_role("listitem").filter(has_text="overview-failing")
    await expect(entry).to_contain_text("Failing")
    await expect(entry).to_contain_text("step one failed")
    await expect(attention).not_to_contain_text("overview-fine")
    assert errors_of(page) == []


async def test_a_page_shows_a_change_without_reloading(browser, dashboard, client):
    page = await dashboard.open(browser)
    await expect(page.locator("#live")).to_have_class("live connected")
    await page.evaluate("window.notReloaded = true")
    await world.composite(client, "overview-live", "shop", world.FAILING)
    await expect(page.get_by_role("region", name="Needs attention")).to_contain_text("overview-live")
    assert await page.evaluate("window.notReloaded")


async def test_a_package_that_is_unhealthy_needs_attention(browser, dashboard, client):
    unhealthy = (
        world.condition("Installed", "True"),
        world.condition("Healthy", "False", "UnhealthyPackageRevision", "it ended with exit status 1"),
    )
    metadata = {"name": "provider-cloud"}
    await client.create(
        PROVIDER,
        {
            "apiVersion": PROVIDER.api_version,
            "kind": "Provider",
            "metadata": metadata,
            "status": {"conditions": list(unhealthy)},
        },
    )
    page = await dashboard.open(browser)
    attention = page.get_by_role("region", name="Needs attention")
    entry = attention.get_by_role("listitem").filter(has_text="Provider provider-cloud")
    await expect(entry).to_contain_text("Unhealthy")
    await expect(entry).to_contain_text("it ended with exit status 1")
    await client.delete(PROVIDER, "provider-cloud", "")
    await expect(entry).to_have_count(0)


async def test_a_provider_names_the_composite_resources_that_use_its_kinds(browser, dashboard, client):
    xr = await world.composite(client, "user", "shop", references=(world.reference(world.SUBNET, "of-user"),))
    await world.composed(client, xr, "of-user")
    await world.provider(client, "provider-subnets", world.SUBNET)
    page = await dashboard.open(browser, "/packages/providers/provider-subnets")
    facts = page.get_by_role("main")
    await expect(facts.get_by_role("link", name="Network", exact=True)).to_be_visible()
    await expect(facts).to_contain_text("×")
    assert errors_of(page) == []
