"""A user logs in with the right to read Compositions, and nothing else."""

import orjson
import pytest
import pytest_asyncio
from playwright.async_api import expect

from crossply.kube.core_kinds import CLUSTER_ROLE, CLUSTER_ROLE_BINDING, SERVICE_ACCOUNT
from tests.support.browser import running_dashboard
from tests.support.programs import needs

pytestmark = [
    needs("chromium"),
    pytest.mark.xdist_group("browser"),
    pytest.mark.asyncio(loop_scope="session"),
]
PAGES = (
    "/definitions",
    "/definitions/shops.shop.example.org",
    "/playground/shops.shop.example.org",
    "/packages",
    "/packages/functions/function-go-templating",
    "/packages/functions/function-go-templating/log",
    "/operations",
    "/operations/operations/broken",
    "/runs",
)
HIDDEN = (
    "web-servers",
    "go-templating:v0.9.0",
    "nightly-report",
    "no printer",
    "How many web servers",
    "bakery",
)


@pytest.fixture(scope="module")
def login(control_plane, platform, tmp_path_factory):
    """A dashboard where viewers log in."""
    log = tmp_path_factory.mktemp("dashboard") / "login.err"
    with running_dashboard(str(control_plane / "kubeconfig"), log, "--login") as dashboard:
        yield dashboard


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def token(platform):
    """The token of a service account that may read Compositions."""
    await platform.create(SERVICE_ACCOUNT, {"metadata": {"name": "visitor", "namespace": "default"}})
    await _grant_compositions(platform)
    path = SERVICE_ACCOUNT.path("default", "visitor", "token")
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    reply = await platform.request("POST", path, body=request)
    return orjson.loads(reply.data)["status"]["token"]


async def test_a_viewer_gets_the_objects_of_their_rights_and_no_more(browser, login, token):
    page = await (await browser.new_context()).new_page()
    await page.goto(login.url)
    await page.get_by_label("Bearer token").fill(token)
    await page.get_by_role("button", name="Log in").click()
    for path in PAGES:
        await page.goto(login.url + path)
        await expect(page.get_by_role("main")).to_be_visible()
        content = await page.content()
        assert not [word for word in HIDDEN if word in content], path
    await page.goto(f"{login.url}/compositions/shop")
    main = page.get_by_role("main")
    await expect(main).to_contain_text("web-servers")
    await expect(main).not_to_contain_text("Healthy")


async def _grant_compositions(platform):
    rules = [
        {
            "apiGroups": ["apiextensions.crossplane.io"],
            "resources": ["compositions", "compositionrevisions"],
            "verbs": ["get", "list", "watch"],
        }
    ]
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "visitor"}
    subject = {"kind": "ServiceAccount", "namespace": "default", "name": "visitor"}
    await platform.create(CLUSTER_ROLE, {"metadata": {"name": "visitor"}, "rules": rules})
    binding = {"metadata": {"name": "visitor"}, "roleRef": role, "subjects": [subject]}
    await platform.create(CLUSTER_ROLE_BINDING, binding)
