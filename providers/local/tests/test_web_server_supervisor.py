"""Web servers are real processes on real ports."""

from __future__ import annotations

import asyncio
import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from textwrap import dedent

import pytest
from provider_local.loopback_ports import PortInUse, listen, selectable_ports
from provider_local.web_server_supervisor import SupervisedServer, Supervisor

PATIENCE = 30.0
PROVIDER = str(Path(__file__).parents[1])


@pytest.fixture
async def supervisor(root: Path) -> AsyncIterator[Supervisor]:
    (root / "team" / "site" / "sub").mkdir(parents=True)
    (root / "team" / "site" / "index.html").write_text("<h1>hello</h1>")
    (root / "team" / "site" / "sub" / "a b.txt").write_text("plain")
    supervisor = Supervisor(str(root))
    yield supervisor
    await supervisor.close()


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.02)


def fetch(port: int, path: str = "/", method: str = "GET") -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request(method, path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def fetch_when_open(port: int) -> tuple[int, str]:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return fetch(port)
        except ConnectionRefusedError:
            assert time.monotonic() < deadline
            time.sleep(0.02)


async def started(supervisor: Supervisor, port: int | None = None) -> SupervisedServer:
    await supervisor.start("team", "web", "site", port)
    server = supervisor.find("team", "web")
    assert server is not None
    await until(lambda: server.pid)
    return server


def is_free(port: int) -> bool:
    try:
        listen(port).close()
    except PortInUse:
        return False
    return True


async def test_a_directory_is_served_without_listings_links_and_writes(
    supervisor: Supervisor, root: Path
) -> None:
    server = await started(supervisor)
    port = server.unit.port
    (root / "team" / "site" / "secret").symlink_to("/etc/passwd")
    (root / "team" / "site" / "other").symlink_to(root / "team")
    (root / "team" / "site" / ".env").write_text("PASSWORD=x")
    answers = {
        (method, path): await asyncio.to_thread(fetch, port, path, method)
        for method, path in (
            ("GET", "/"),
            ("GET", "/index.html?x=1"),
            ("HEAD", "/"),
            ("GET", "/sub/a%20b.txt"),
            ("GET", "/sub"),
            ("GET", "/sub/"),
            ("GET", "/secret"),
            ("GET", "/.env"),
            ("GET", "/other/site/index.html"),
            ("GET", "/../site/index.html"),
            ("GET", "/%2e%2e/site/index.html"),
            ("GET", "//etc/passwd"),
            ("POST", "/"),
            ("PUT", "/x"),
        )
    }
    assert answers["GET", "/"] == answers["GET", "/index.html?x=1"] == (200, "<h1>hello</h1>")
    assert answers["HEAD", "/"] == (200, "")
    assert answers["GET", "/sub/a%20b.txt"] == (200, "plain")
    assert answers["GET", "/sub"][0] == 301
    refused = [request for request, answer in answers.items() if answer[0] in (404, 501)]
    assert len(refused) == 9, answers


async def test_a_killed_process_is_started_again_on_the_same_port(supervisor: Supervisor) -> None:
    server = await started(supervisor)
    pid = server.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    # The provider holds the socket: a request during the restart waits and is answered.
    assert await asyncio.to_thread(fetch, server.unit.port) == (200, "<h1>hello</h1>")
    assert server.pid != pid


async def test_a_removed_server_ends_and_frees_its_port(supervisor: Supervisor) -> None:
    server = await started(supervisor)
    pid = server.pid
    assert pid is not None
    await supervisor.remove("team", "web")
    assert is_free(server.unit.port)
    assert not is_alive(pid)
    assert supervisor.find("team", "web") is None
    await supervisor.remove("team", "web")


async def test_servers_come_back_on_their_ports_after_a_restart(supervisor: Supervisor, root: Path) -> None:
    port = (await started(supervisor)).unit.port
    await supervisor.close()
    assert is_free(port)
    next_one = Supervisor(str(root))
    next_one.resume()
    try:
        server = next_one.find("team", "web")
        assert server is not None
        await until(lambda: server.pid)
        assert await asyncio.to_thread(fetch, port) == (200, "<h1>hello</h1>")
    finally:
        await next_one.close()


async def test_a_port_that_is_taken_is_named_and_a_chosen_one_is_kept(supervisor: Supervisor) -> None:
    taken = socket.create_server(("127.0.0.1", 0))
    with taken:
        with pytest.raises(PortInUse, match=f"port {taken.getsockname()[1]} is used by another program"):
            await supervisor.start("team", "web", "site", taken.getsockname()[1])
        await supervisor.start("team", "web", "site", None)
        await supervisor.start("team", "other", "site", None)
    first, second = supervisor.find("team", "web"), supervisor.find("team", "other")
    assert first is not None
    assert second is not None
    assert first.unit.port != second.unit.port
    await supervisor.start("team", "web", "site/sub", None)
    again = supervisor.find("team", "web")
    assert again is not None
    assert again.unit == first.unit._replace(directory="site/sub")


def test_the_operator_says_which_ports_may_be_chosen() -> None:
    assert selectable_ports({}) == range(8800, 9000)
    assert selectable_ports({"CROSSPLY_LOCAL_PORTS": "9100-9101"}) == range(9100, 9102)
    with pytest.raises(ValueError, match="is not like 8800-8999"):
        selectable_ports({"CROSSPLY_LOCAL_PORTS": "9100"})


async def test_a_server_whose_new_port_is_taken_goes_on(supervisor: Supervisor) -> None:
    server = await started(supervisor)
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(PortInUse):
        await supervisor.start("team", "web", "site", taken.getsockname()[1])
    assert supervisor.find("team", "web") is server
    assert await asyncio.to_thread(fetch, server.unit.port) == (200, "<h1>hello</h1>")


async def test_a_server_whose_port_was_taken_meanwhile_waits_for_it(supervisor: Supervisor) -> None:
    port = (await started(supervisor)).unit.port
    await supervisor.close()
    with socket.create_server(("127.0.0.1", port)):
        supervisor.resume()
        server = supervisor.find("team", "web")
        assert server is not None
        await until(lambda: server.problem)
        assert server.problem.startswith(f"port {port} is used by another program")
    assert await asyncio.to_thread(fetch_when_open, port) == (200, "<h1>hello</h1>")
    assert server.problem == ""


async def test_a_process_ends_with_a_provider_that_is_killed(root: Path) -> None:
    (root / "team" / "site").mkdir(parents=True)
    program = dedent(
        """
        import asyncio, sys
        from provider_local.web_server_supervisor import Supervisor

        async def main():
            supervisor = Supervisor(sys.argv[1])
            await supervisor.start("team", "web", "site", None)
            server = supervisor.find("team", "web")
            while server.pid is None:
                await asyncio.sleep(0.01)
            print(server.pid, server.unit.port, flush=True)
            await asyncio.sleep(1000)

        asyncio.run(main())
        """
    )
    provider = subprocess.Popen(
        [sys.executable, "-c", program, str(root)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": PROVIDER},
    )
    with provider:
        assert provider.stdout is not None
        pid, port = map(int, provider.stdout.readline().split())
        assert is_alive(pid)
        provider.kill()
    await until(lambda: not is_alive(pid) and is_free(port))


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or status.read_text().rsplit(")", 1)[1].split()[0] != "Z"
