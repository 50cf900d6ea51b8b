"""The page of a composite resource: tree, graph and drawer, in a real browser."""

import re

import pytest
from playwright.async_api import expect

from crossply.kube.core_kinds import EVENT
from tests.support import ui_world as world
from tests.support.browser import errors_of
from tests.support.programs import needs

pytestmark = [
    needs("chromium"),
    pytest.mark.xdist_group("browser"),
    pytest.mark.asyncio(loop_scope="session"),
]
OVERLAP = "the CIDR overlaps with another subnet"


async def network(client, name, subnets=6, failing=()):
    names = [f"{name}-subnet-{number}" for number in range(subnets)]
    references = tuple(world.reference(world.SUBNET, subnet) for subnet in names)
    conditions = world.WAITING if failing else world.READY
    xr = await world.composite(client, name, "shop", conditions, references)
    for number, subnet in enumerate(names):
        failed = (world.condition("Synced", "False", "ReconcileError", OVERLAP),)
        await world.composed(client, xr, subnet, failed if number in failing else world.READY)
    return xr


def url(name, query=""):
    return f"/resources/{world.GROUP}/Network/shop/{name}{query}"


async def test_the_reason_of_an_unready_resource_is_within_three_clicks(browser, dashboard, client):
    await network(client, "clicks", failing=(2,))
    page = await dashboard.open(browser)
    await page.get_by_role("link", name="Network clicks").click()
    cause = page.get_by_role("region", name="Why it is not ready")
    await expect(cause).to_contain_text(OVERLAP)
    await cause.get_by_role("link", name="clicks-subnet-2").click()
    drawer = page.get_by_role("complementary", name="clicks-subnet-2")
    await expect(drawer).to_contain_text("Synced false")
    await expect(drawer).to_contain_text(OVERLAP)
    assert errors_of(page) == []


async def test_equal_children_are_one_line_that_opens(browser, dashboard, client):
    await network(client, "groups", failing=(2,))
    page = await dashboard.open(browser, url("groups"))
    tree = page.get_by_role("tree")
    await expect(tree.get_by_role("treeitem")).to_have_count(3)  # itself, the failing one, the others
    await tree.get_by_role("treeitem", name="Subnet times 5").get_by_text("×5").click()
    await expect(tree.get_by_role("treeitem")).to_have_count(8)
    await expect(page).to_have_url(re.compile("open="))  # what is open is a link
    await page.reload()
    await expect(tree.get_by_role("treeitem")).to_have_count(8)


async def walk_down(page, start, end):
    """Press a key in a tree; a concurrent update of the page swallows it."""
    for attempt in range(5):
        await page.get_by_role("treeitem", name=start).focus()
        await page.keyboard.press("ArrowDown")
        try:
            await expect(page.get_by_role("treeitem", name=end)).to_be_focused(timeout=3000)
            return
        except AssertionError:
            if attempt == 4:
                raise


async def test_the_tree_is_filtered_and_walked_by_the_keyboard(browser, dashboard, client):
    await network(client, "keys")
    page = await dashboard.open(browser, url("keys"))
    await page.keyboard.press("/")
    await page.keyboard.type("subnet-4")
    items = page.get_by_role("tree").get_by_role("treeitem")
    await expect(items).to_have_count(2)
    await expect(page.get_by_label("Filter the tree")).to_be_focused()
    await walk_down(page, "Network keys", "Subnet keys-subnet-4")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("complementary", name="keys-subnet-4")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("complementary")).to_have_count(0)
    assert errors_of(page) == []


async def test_arrow_keys_open_and_close_a_group(browser, dashboard, client):
    await network(client, "arrows")
    page = await dashboard.open(browser, url("arrows"))
    group = page.get_by_role("treeitem", name="Subnet times 6")
    await group.focus()
    await page.keyboard.press("ArrowRight")
    await expect(group).to_have_attribute("aria-expanded", "true")
    await expect(group).to_be_focused()
    await page.keyboard.press("ArrowLeft")
    await expect(group).to_have_attribute("aria-expanded", "false")


async def test_the_drawer_shows_every_sheet(browser, dashboard, client):
    await network(client, "sheets", subnets=1)
    page = await dashboard.open(browser, url("sheets", "?node=cloud.example.org/Subnet/shop/sheets-subnet-0"))
    drawer = page.get_by_role("complementary", name="sheets-subnet-0")
    for tab, text in (
        ("Fields", "status.conditions[0].type"),
        ("Difference", "No recorded run"),
        ("Events", "No events"),
        ("YAML", "kind: Subnet"),
        ("Relations", "Network sheets"),
        ("Conditions", "Synced true"),
    ):
        await drawer.get_by_role("link", name=tab, exact=True).click()
        await expect(drawer).to_contain_text(text)
        await expect(page).to_have_url(re.compile(f"tab={tab.lower()}"))
    await drawer.get_by_role("link", name="YAML").click()
    await expect(drawer.get_by_text("Managed fields")).to_be_visible()
    await expect(drawer.get_by_text("f:status")).not_to_be_visible()
    assert errors_of(page) == []


async def test_fields_are_shown_as_in_manifests_with_who_wrote_them(browser, dashboard, client):
    xr = await world.composite(client, "typed", "shop")
    await world.composed(client, xr, "typed-subnet", spec={"public": True, "gateway": None, "hosts": 12})
    at = "?node=cloud.example.org/Subnet/shop/typed-subnet&tab=fields"
    page = await dashboard.open(browser, url("typed", at))
    rows = page.get_by_role("complementary", name="typed-subnet").get_by_role("row")
    public = rows.filter(has_text="spec.public")
    await expect(public.get_by_role("cell").nth(1)).to_have_text("true")
    await expect(public).to_contain_text("no step of the pipeline")
    await expect(public.get_by_text("written by")).to_be_visible()
    await expect(public.locator("time")).to_be_visible()
    assert errors_of(page) == []


async def test_the_tree_shows_a_change_without_reloading(browser, dashboard, client):
    await network(client, "changing", subnets=1)
    page = await dashboard.open(browser, url("changing"))
    item = page.get_by_role("treeitem", name="Subnet changing-subnet-0")
    await expect(item).to_contain_text("Ready")
    await expect(page.locator("#live")).to_have_class("live connected")
    failed = {"status": {"conditions": [world.condition("Synced", "False", "ReconcileError", OVERLAP)]}}
    await client.patch_merge(world.SUBNET, "changing-subnet-0", failed, "shop")
    await expect(item).to_contain_text("Failing")


async def test_the_graph_is_a_picture_that_can_be_exported(browser, dashboard, client):
    await network(client, "picture", subnets=2)
    page = await dashboard.open(browser, url("picture", "?view=graph"))
    await expect(
        page.get_by_role("region", name="Graph").locator("text", has_text="picture-subnet-1")
    ).to_be_visible()
    async with page.expect_download() as download:
        await page.get_by_role("link", name="Export SVG").click()
    file = await (await download.value).path()
    assert file.read_text().startswith("<svg")


HOSTILE = '"><img src=x onerror="window.hacked=1"><script>window.hacked=1</script>'


async def test_hostile_objects_run_nothing(browser, dashboard, client):
    conditions = tuple(
        world.condition(name, "False", HOSTILE, HOSTILE) for name in ("Synced", "Ready", f"</td>{HOSTILE}")
    )
    reference = {"apiVersion": f"x/{HOSTILE}", "kind": HOSTILE, "name": HOSTILE, "namespace": HOSTILE}
    annotations = {"crossplane.io/composition-resource-name": HOSTILE}
    xr = await world.composite(client, "hostile", "shop", conditions, (reference,), annotations=annotations)
    line = "x" * 1_000_000
    config = {"data": {"line": line, "script": HOSTILE}}
    await world.composed(client, xr, "hostile-map", (), world.CONFIG_MAP, HOSTILE, **config)
    refs = [reference, world.reference(world.CONFIG_MAP, "hostile-map")]
    await client.patch_merge(
        world.NETWORK, "hostile", {"spec": {"crossplane": {"resourceRefs": refs}}}, "shop"
    )
    page = await dashboard.open(browser)
    for path in (
        "/",
        "/composites",
        url("hostile"),
        url("hostile", "?view=graph"),
        *(
            url("hostile", f"?node={world.GROUP}/Network/shop/hostile&tab={tab}")
            for tab in ("conditions", "yaml")
        ),
        *(url("hostile", f"?node=core/ConfigMap/shop/hostile-map&tab={tab}") for tab in ("fields", "yaml")),
        f"/composites?q={HOSTILE}",
    ):
        await page.goto(dashboard.url + path)
        await expect(page.get_by_role("main")).to_be_visible()
        assert await page.evaluate("window.hacked") is None, path
        assert await page.locator("img").count() == 0, path
        assert len(await page.content()) < 1_500_000, path
    assert errors_of(page) == []
    await client.delete(world.NETWORK, "hostile", "shop")


async def test_the_cause_is_the_one_that_explain_finds(browser, dashboard, client):
    unsynced = (world.condition("Synced", "False", "ReconcileError", "Unsynced resources: server"),)
    xr = await world.composite(client, "wrong-field", "shop", unsynced)
    refusal = (
        'Subnet.cloud.example.org "a" is invalid: spec.forProvider.port: Invalid value: 70000: too large'
    )
    await client.create(
        EVENT,
        {
            "metadata": {"name": "wrong-field.1", "namespace": "shop"},
            "involvedObject": {
                "kind": "Network",
                "namespace": "shop",
                "name": "wrong-field",
                "uid": xr["metadata"]["uid"],
            },
            "type": "Warning",
            "reason": "ComposeResources",
            "message": f'cannot apply composed resource "server": {refusal}',
            "lastTimestamp": world.TRANSITION,
        },
    )
    page = await dashboard.open(browser)
    entry = page.get_by_role("listitem").filter(has_text="Network wrong-field")
    await expect(entry.first).to_contain_text("spec.forProvider.port: Invalid value: 70000")
    await page.get_by_role("link", name="Network wrong-field").first.click()
    cause = page.get_by_role("region", name="Why it is not ready")
    await expect(cause).to_contain_text('"server" has a wrong field: spec.forProvider.port')
    await expect(cause).to_contain_text("condition Synced is False")
    await expect(cause).to_contain_text("kubectl explain subnet.spec.forProvider.port")


async def test_a_table_is_readable_on_a_telephone_and_an_address_without_a_page_has_one(
    browser, dashboard, client
):
    await world.composite(client, "narrow", "shop", world.FAILING)
    page = await dashboard.open(browser, "/composites?q=narrow")
    await page.set_viewport_size({"width": 360, "height": 800})
    why = page.locator("#resources td", has_text="step one failed")
    await expect(why).to_have_attribute("data-label", "Why")
    box = await why.bounding_box()
    assert box["width"] > 200
    response = await page.goto(f"{dashboard.url}/nonsense")
    assert response.status == 404
    await expect(page.get_by_role("heading", name="Not found")).to_be_visible()
    await expect(page.get_by_role("link", name="Overview", exact=True)).to_be_visible()
