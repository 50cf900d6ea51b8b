"""One world for all that `trace` is asked: a real API server in memory, a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from tests.kube.embedded import Server
from trace_world import World, fill

from crossply.cli.main import main


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    server = Server(tmp_path_factory.mktemp("trace"), "--in-memory").start()
    yield fill(World(server).prepare())
    server.stop()


@pytest.fixture
def trace(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[str], tuple[int, str, str]]:
    """Run `crossply trace …` here: its exit code, its output and what it said on stderr."""
    monkeypatch.setenv("KUBECONFIG", world.kubeconfig)

    def run(words: str) -> tuple[int, str, str]:
        code = main(["trace", *words.split()])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run
