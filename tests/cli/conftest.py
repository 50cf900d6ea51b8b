"""One API server in memory, as a process of its own, for all tests of `trace`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from crossply.cli.main import main
from tests.support.cli.command import Run
from tests.support.cli.provider_family import base, write_family
from tests.support.cli.trace_cluster import World, fill
from tests.support.registry import docker_registry, pushed
from tests.support.server_process import Server


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    server = Server(tmp_path_factory.mktemp("trace"), "--in-memory").start()
    yield fill(World(server).prepare())
    server.stop()


@pytest.fixture
def trace(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[str], tuple[int, str, str]]:
    """Run `crossply trace …` here: its exit code, its output and its stderr."""
    monkeypatch.setenv("KUBECONFIG", world.kubeconfig)

    def run(words: str) -> tuple[int, str, str]:
        code = main(["trace", *words.split()])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def run(crossply: Run) -> Run:
    """Run `crossply xpkg …`."""
    return lambda *words: crossply("xpkg", *words)


@pytest.fixture
def project(crossply: Run) -> Run:
    """Run `crossply project …`."""
    return lambda *words: crossply("project", *words)


@pytest.fixture
def crossply(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run `crossply …` in an empty directory, for a user without logins or a container engine."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    monkeypatch.delenv("DOCKER_CONFIG", raising=False)

    def call(*words: str) -> tuple[int, str, str]:
        code = main(list(words))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def family(tmp_path: Path) -> Path:
    """The repository of a family of providers."""
    write_family(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A registry with the base images of the family."""
    with docker_registry(tmp_path_factory.mktemp("registry")) as address:
        for architecture in ("amd64", "arm64"):
            pushed(address, base(architecture), f"team/base:v1-{architecture}")
        pushed(address, base("amd64"), "team/base:wrong-arm64")
        yield address
