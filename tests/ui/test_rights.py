"""The dashboard shows the objects of the viewer's rights, and names the missing right."""

import pytest
from playwright.async_api import expect

from crossply.kube.core_kinds import CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING
from tests.support import ui_world as world
from tests.support.browser import running_dashboard
from tests.support.programs import needs

pytestmark = [
    needs("chromium"),
    pytest.mark.xdist_group("browser"),
    pytest.mark.asyncio(loop_scope="session"),
]
READ = ["get", "list", "watch"]


@pytest.fixture(scope="module")
def login(server, client, tmp_path_factory):
    """A dashboard with logins; its kubeconfig is the administrator's, whose rights no viewer gets."""
    log = tmp_path_factory.mktemp("ui") / "err"
    with running_dashboard(server.kubeconfig, log, "--login") as running:
        yield running


async def log_in(browser, dashboard, token):
    page = await (await browser.new_context()).new_page()
    await page.goto(dashboard.url)
    await page.get_by_label("Bearer token").fill(token)
    await page.get_by_role("button", name="Log in").click()
    return page


async def grant(client, name, rules, namespace=""):
    kinds = (ROLE, ROLE_BINDING) if namespace else (CLUSTER_ROLE, CLUSTER_ROLE_BINDING)
    place = {"namespace": namespace} if namespace else {}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": kinds[0].kind, "name": name}
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "reader"}
    await client.create(kinds[0], {"metadata": {"name": name, **place}, "rules": rules})
    await client.create(
        kinds[1], {"metadata": {"name": name, **place}, "roleRef": role, "subjects": [subject]}
    )


async def test_a_token_that_the_server_refuses_opens_nothing(browser, login):
    page = await log_in(browser, login, "guessed")
    await expect(page.get_by_role("alert")).to_contain_text("does not accept this token")
    await page.goto(login.url + "/composites")
    await expect(page.get_by_label("Bearer token")).to_be_visible()


async def test_a_viewer_without_rights_gets_the_missing_one_and_no_objects(browser, login, client):
    await world.composite(client, "unseen", "secret-place", world.FAILING)
    page = await log_in(browser, login, "nobody-token")
    for path in ("/", "/composites", f"/resources/{world.GROUP}/Network/secret-place/unseen"):
        await page.goto(login.url + path)
        await expect(page.get_by_role("heading", name="You may not see this")).to_be_visible()
        assert "unseen" not in (await page.content()).replace(path, "")
        assert "step one failed" not in await page.content()


async def test_a_reader_gets_the_objects_of_their_rights_and_no_more(browser, login, client):
    definitions = {"apiGroups": ["apiextensions.crossplane.io"], "resources": ["*"], "verbs": READ}
    networks = {"apiGroups": [world.GROUP], "resources": ["networks"], "verbs": READ}
    await grant(client, "definitions-reader", [definitions])
    await grant(client, "networks-reader", [networks], "default")
    await world.composite(client, "elsewhere", "secret-place", world.FAILING)
    reference = world.reference(world.SUBNET, "mine-subnet")
    xr = await world.composite(client, "mine", "default", world.FAILING, (reference,))
    failed = (world.condition("Synced", "False", "ReconcileError", "only for those who may read subnets"),)
    await world.composed(client, xr, "mine-subnet", failed)
    page = await log_in(browser, login, "reader-token")
    await expect(page.get_by_role("link", name="Network mine")).to_be_visible()
    await expect(page.get_by_role("main")).not_to_contain_text("elsewhere")
    await page.goto(f"{login.url}/composites?q=elsewhere")
    await expect(page.get_by_role("main")).to_contain_text("Nothing matches")
    await page.goto(f"{login.url}/resources/{world.GROUP}/Network/default/mine")
    await expect(page.get_by_role("treeitem", name="mine-subnet")).to_contain_text("Not visible")
    await expect(page.get_by_role("main")).not_to_contain_text("only for those")
    await page.goto(f"{login.url}/resources/cloud.example.org/Subnet/default/mine-subnet")
    await expect(page.get_by_role("main")).to_contain_text("get subnets.cloud.example.org")
    await page.goto(f"{login.url}/resources/{world.GROUP}/Network/secret-place/elsewhere")
    await expect(page.get_by_role("heading", name="You may not see this")).to_be_visible()
