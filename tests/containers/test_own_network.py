"""Containers with a network of their own: which ports they reach, which lead to them, and what ends it."""

from __future__ import annotations

import os
import socket
import threading
import time

import pytest

from crossply.containers.container import Container
from crossply.containers.failures import NoOwnNetwork
from crossply.containers.image_store import Store
from crossply.containers.output_tail import ContainerLog
from crossply.containers.pasta import PortForwards, Resolver, find_resolver, pasta_command
from crossply.containers.settings import OWN, Settings
from tests.support.patience import PATIENCE
from tests.support.ports import free_port
from tests.support.programs import needs
from tests.support.running_processes import processes_with
from tests.support.script_images import needs_containers, script_image

pytestmark = [*needs_containers, needs("pasta", "busybox")]
REACHES = """
for port in $REACHABLE $OTHER; do
  /bin/busybox nc -w 3 127.0.0.1 $port </dev/null >/tmp/out 2>&1 || { echo "$port refused"; continue; }
  echo "$port says $(/bin/busybox cat /tmp/out)"
done
echo inside | /bin/busybox nc -l -p 9443
echo done
"""


@pytest.fixture
def store(tmp_path):
    return Store(str(tmp_path / "store"))


class Started:
    """A container and its output."""

    def __init__(self, store, script: str, settings: Settings) -> None:
        image = store.add(script_image(script), "sha256:" + "0" * 64)
        self.log = ContainerLog()
        nothing = os.open(os.devnull, os.O_RDONLY)
        try:
            self.container = Container(image, settings, [nothing, self.log.write, self.log.write])
        finally:
            os.close(nothing)
            self.log.begin()

    def until(self, text: str) -> str:
        end = time.monotonic() + PATIENCE
        while text not in self.log.text():
            assert time.monotonic() < end, self.log.text()
            assert not self.container.wait(0.02), self.container.explain(self.log.last_lines())
        return self.log.text()


def greeting_server() -> socket.socket:
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                caller, _ = server.accept()
            except OSError:
                return
            with caller:
                caller.sendall(b"hello\n")

    threading.Thread(target=serve, daemon=True).start()
    return server


def test_a_container_reaches_chosen_ports_of_the_machine_and_is_reached_at_one(store):
    published = free_port()
    with greeting_server() as chosen, greeting_server() as other:
        ports = [server.getsockname()[1] for server in (chosen, other)]
        settings = Settings(
            network=OWN,
            forwards=PortForwards((ports[0],), ((published, 9443),)),
            environment=(f"REACHABLE={ports[0]}", f"OTHER={ports[1]}"),
        )
        started = Started(store, REACHES, settings)
        text = started.until(f"{ports[1]} refused")
        assert f"{ports[0]} says hello" in text
        assert read_from(published) == "inside\n"
        assert started.container.wait(PATIENCE)
        started.container.release()


def read_from(port: int) -> str:
    """The response of a port, once something listens behind it."""
    end = time.monotonic() + PATIENCE
    while True:
        with socket.create_connection(("127.0.0.1", port), 5) as connection:
            data = connection.makefile().read()
        if data:
            return data
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_container_whose_pasta_is_killed_ends_with_that_reason(store):
    published = free_port()
    settings = Settings(network=OWN, forwards=PortForwards((), ((published, 9443),)))
    started = Started(store, "echo up; while true; do /bin/busybox sleep 1; done", settings)
    started.until("up")
    os.kill(processes_with(f"127.0.0.1/{published}:9443")[0], 9)
    assert started.container.wait(PATIENCE)
    assert "pasta, which carries its network, has ended" in str(started.container.explain(""))
    started.container.release()


def test_a_network_that_cannot_be_connected_is_distinguished_from_other_failures(store):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        settings = Settings(
            network=OWN, forwards=PortForwards((), ((listener.getsockname()[1], 9443),)), hostname="provider"
        )
        started = Started(store, "echo up", settings)
        assert started.container.wait(PATIENCE)
        assert started.container.has_no_network
        assert "pasta does not connect its network" in str(started.container.explain(""))
        started.container.release()


def test_without_pasta_it_is_named(store, monkeypatch):
    monkeypatch.setattr("crossply.containers.container.find_pasta", lambda _: "")
    with pytest.raises(NoOwnNetwork, match="pasta is not installed"):
        Started(store, "echo up", Settings(network=OWN))


@pytest.mark.parametrize(
    ("files", "expected", "by_loopback"),
    [
        (["search a.example\nnameserver 192.0.2.1\n"], "search a.example\nnameserver 192.0.2.1\n", False),
        (["nameserver 127.0.0.53\n", "nameserver 192.0.2.2\n"], "nameserver 192.0.2.2\n", False),
        (["nameserver 127.0.0.1\nsearch b.example\n"], "nameserver 127.0.0.1\nsearch b.example\n", True),
        ([], "nameserver 127.0.0.1\n", True),
    ],
)
def test_the_resolver_is_one_that_the_container_can_reach(files, expected, by_loopback, tmp_path):
    paths = [tmp_path / str(number) for number in range(2)]
    for path, text in zip(paths, files, strict=False):
        path.write_text(text)
    resolver = find_resolver(tuple(map(str, paths)))
    assert resolver == Resolver(expected.encode(), by_loopback)
    command = pasta_command("pasta", PortForwards((6443,)), resolver)
    assert ("6443,53" in command, command[-1] == "53") == (by_loopback, by_loopback)
