"""Access to the dashboard: one-time tokens, sessions, Host and Origin, CSRF, and no writes by default.

These are requests as another site, another program or a curious user would send them.
"""

import re

import aiohttp
import pytest

from crossply.ui.one_time_token import TokenRedeemer, mint_token
from crossply.ui.session import IDLE_SECONDS, Sessions
from tests.support import ui_world as world
from tests.support.browser import running_dashboard

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.asyncio(loop_scope="session")]


@pytest.fixture(scope="module")
def own(server, client, tmp_path_factory):
    with running_dashboard(server.kubeconfig, tmp_path_factory.mktemp("ui") / "err") as running:
        yield running


@pytest.fixture(scope="module")
def writable(server, client, tmp_path_factory):
    log = tmp_path_factory.mktemp("ui") / "err"
    with running_dashboard(server.kubeconfig, log, "--allow-writes") as running:
        yield running


async def logged_in(dashboard, cookies={}):  # noqa: B006 - the token can be used once
    """A client with a session, and its CSRF token."""
    session = aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True), base_url=dashboard.url)
    if dashboard.url in cookies:
        session.cookie_jar.update_cookies(cookies[dashboard.url])
    else:
        async with session.get(dashboard.address) as answer:
            assert answer.status == 200
            cookies[dashboard.url] = answer.cookies
    async with session.get("/") as answer:
        assert answer.status == 200
        csrf = re.search(r'"X-CSRF-Token": "([^"]+)"', await answer.text())
    return session, csrf[1]


async def status(session, method, path, **options):
    async with session.request(method, path, allow_redirects=False, **options) as answer:
        return answer.status


async def test_a_token_opens_one_session_only(own):
    session, _ = await logged_in(own)
    async with session, aiohttp.ClientSession() as other:
        assert await status(session, "GET", "/") == 200
        assert await status(other, "GET", own.address) == 403
        assert await status(other, "GET", f"{own.url}/login?token=guessed") == 403
        assert await status(other, "GET", f"{own.url}/") == 403


async def test_the_cookie_is_not_for_scripts_nor_for_other_sites(own):
    session, _ = await logged_in(own)
    async with session:
        (cookie,) = session.cookie_jar
        assert cookie["httponly"]
        assert cookie["samesite"] == "Strict"


async def test_a_foreign_host_name_is_refused(own):
    session, _ = await logged_in(own)
    async with session:
        for host in ("evil.example.org", "evil.example.org:80", "127.0.0.1.evil.example.org", ""):
            assert await status(session, "GET", "/", headers={"Host": host}) in (400, 421), host
        port = own.url.rpartition(":")[2]
        async with aiohttp.ClientSession() as other:
            assert (
                await status(other, "GET", f"http://localhost:{port}/login") == 403
            )  # no session, but served


async def test_every_answer_forbids_inline_scripts_and_frames(own):
    session, _ = await logged_in(own)
    async with session:
        for path in ("/", "/login", "/nowhere", "/assets/crossply.js"):
            async with session.get(path) as answer:
                policy = answer.headers["Content-Security-Policy"]
                assert "unsafe" not in policy
                assert "default-src 'none'" in policy
                assert "frame-ancestors 'none'" in policy
                assert answer.headers["X-Content-Type-Options"] == "nosniff"
                assert answer.headers["Referrer-Policy"] == "no-referrer"


async def test_pages_have_no_inline_script_style_or_handler(own):
    session, _ = await logged_in(own)
    async with session:
        for path in ("/", "/composites"):
            async with session.get(path) as answer:
                text = await answer.text()
                assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|javascript:", text)


async def test_writes_are_refused_without_the_flag(own, client):
    await world.composite(client, "kept", "shop")
    session, csrf = await logged_in(own)
    path = f"/resources/{world.GROUP}/Network/shop/kept"
    headers = {"Origin": own.url, "X-CSRF-Token": csrf}
    async with session:
        for action in ("pause", "resume", "reconcile", "delete"):
            assert await status(session, "POST", f"{path}/{action}", headers=headers) == 403
    network = await client.get(world.NETWORK, "kept", "shop")
    assert "annotations" not in network["metadata"]


async def test_writes_are_refused_without_the_csrf_token_or_from_another_origin(writable, client):
    await world.composite(client, "guarded", "shop")
    session, csrf = await logged_in(writable)
    path = f"/resources/{world.GROUP}/Network/shop/guarded/pause"
    async with session:
        for headers in (
            {"Origin": writable.url},
            {"Origin": writable.url, "X-CSRF-Token": "wrong"},
            {"Origin": "http://[", "X-CSRF-Token": csrf},
            {"X-CSRF-Token": csrf},
            {"Origin": "http://evil.example.org", "X-CSRF-Token": csrf},
            {"Origin": writable.url, "X-CSRF-Token": csrf, "Sec-Fetch-Site": "cross-site"},
            {"Origin": "null", "X-CSRF-Token": csrf},
            {"Origin": "null", "X-CSRF-Token": csrf, "Sec-Fetch-Site": "cross-site"},
        ):
            assert await status(session, "POST", path, headers=headers) == 403, headers
        guarded = await client.get(world.NETWORK, "guarded", "shop")
        assert "annotations" not in guarded["metadata"]
        form = {"csrf": csrf}
        assert await status(session, "POST", path, headers={"Origin": writable.url}, data=form) == 303
    guarded = await client.get(world.NETWORK, "guarded", "shop")
    assert guarded["metadata"]["annotations"] == {"crossplane.io/paused": "true"}


async def test_a_deletion_shows_its_plan_and_is_of_that_object(writable, client):
    references = (world.reference(world.SUBNET, "doomed-subnet"),)
    xr = await world.composite(client, "doomed", "shop", references=references)
    await world.composed(client, xr, "doomed-subnet")
    session, csrf = await logged_in(writable)
    path = f"/resources/{world.GROUP}/Network/shop/doomed/delete"
    headers = {"Origin": writable.url, "X-CSRF-Token": csrf}
    async with session:
        async with session.get(path) as answer:
            assert "doomed-subnet" in await answer.text()
        assert await status(session, "POST", path, headers=headers, data={"uid": "another"}) == 409
        assert await client.get(world.NETWORK, "doomed", "shop") is not None
        uid = xr["metadata"]["uid"]
        assert await status(session, "POST", path, headers=headers, data={"uid": uid}) == 303
    gone = await client.get(world.NETWORK, "doomed", "shop")
    assert gone is None or gone["metadata"]["deletionTimestamp"]


async def test_a_session_ends_when_it_is_not_used():
    class Viewer:
        closed = False

        async def close(self):
            self.closed = True

    now, viewer = 0.0, Viewer()
    sessions = Sessions(lambda: now)
    session = await sessions.open(viewer)
    assert sessions.get(session.id) is session
    assert not session.has_csrf("\udcff"), "a byte of a header that is not UTF-8"
    now = IDLE_SECONDS + 1
    assert sessions.get(session.id) is None
    await sessions.open(Viewer())
    assert viewer.closed


async def test_tokens_of_another_key_are_refused():
    token = mint_token(b"a" * 32)
    assert not TokenRedeemer(b"b" * 32).redeem(token)
    redeemer = TokenRedeemer(b"a" * 32)
    assert redeemer.redeem(token)
    assert not redeemer.redeem(token)
    assert not redeemer.redeem("")
    assert not redeemer.redeem("%%%")
