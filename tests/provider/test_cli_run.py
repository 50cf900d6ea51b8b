"""`crossply provider run`: a provider under development, as a process of its own on a real API server."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.support.patience import PATIENCE
from tests.support.server_process import CROSSPLY, Server

from crossply.cli.main import main
from crossply.kube.client import Client
from crossply.kube.kind import Kind
from crossply.values import Object

NOTE = Kind("tickets.example.org", "v1alpha1", "Note", "notes", True)
CONFIG = Kind("tickets.example.org", "v1alpha1", "ClusterProviderConfig", "clusterproviderconfigs", False)


class Development:
    """`crossply provider run` and its output."""

    def __init__(self, provider: Path, kubeconfig: str) -> None:
        self._log = provider.parent / "run.log"
        environ = {**os.environ, "KUBECONFIG": kubeconfig}
        with open(self._log, "w") as log:
            command = [CROSSPLY, "provider", "run", str(provider)]
            self._process = subprocess.Popen(command, env=environ, stdout=log, stderr=log)

    @property
    def output(self) -> str:
        return self._log.read_text()

    def stop(self) -> int:
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(PATIENCE)


Start = Callable[[], Development]


@pytest.fixture
def run(tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    monkeypatch.chdir(tmp_path)
    assert main(["provider", "init", "provider-tickets"]) == 0
    started: list[Development] = []

    def start() -> Development:
        started.append(Development(tmp_path / "provider-tickets", server.kubeconfig))
        return started[-1]

    yield start
    for development in started:
        development.stop()


async def test_a_provider_runs_and_is_replaced_when_its_code_is_saved(
    run: Start, client: Client, tmp_path: Path
) -> None:
    development = run()
    await until(lambda: "started as process" in development.output, development)
    await client.create(CONFIG, config(str(tmp_path / "notes")))
    await client.create(NOTE, note("Hello"))
    file = tmp_path / "notes" / "hello.txt"
    await until(lambda: file.exists() and file.read_text() == "Hello", development)

    code = tmp_path / "provider-tickets" / "tickets_provider" / "note.py"
    text = code.read_text()
    code.write_text(text.replace("class Note:", "class Note"))
    await until(lambda: "the previous code continues to run" in development.output, development)
    assert "note.py:" in development.output

    louder = text.replace("write_text(params.text)", "write_text(params.text.upper())")
    louder = louder.replace('actual={"text": text}', 'actual={"text": text.capitalize()}')
    code.write_text(louder.replace('note says.")]\n', 'note says.")]\n        title: str | None = None\n'))
    await until(lambda: development.output.count("started as process") == 2, development)
    await client.create(NOTE, note("Goodbye", "goodbye", title="Bye"))
    loud = tmp_path / "notes" / "goodbye.txt"
    await until(lambda: loud.exists() and loud.read_text() == "GOODBYE", development)
    live = await client.get(NOTE, "goodbye", "default")
    assert live is not None
    assert live["spec"]["forProvider"]["title"] == "Bye", "the CRD has the new field"
    os.kill(int(development.output.split("started as process ")[-1].split(";")[0]), signal.SIGKILL)
    await until(lambda: development.output.count("started as process") == 3, development)
    assert "ended with exit code -9; starts again in 1 s" in development.output
    assert development.stop() == 0
    assert development.output.endswith("provider-tickets: stopped\n")


async def until(holds: Callable[[], bool], development: Development) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, development.output
        await asyncio.sleep(0.1)


def config(directory: str) -> Object:
    body = {"metadata": {"name": "default"}, "spec": {"directory": directory}}
    return {"apiVersion": CONFIG.api_version, "kind": CONFIG.kind, **body}


def note(text: str, name: str = "hello", **parameters: str) -> Object:
    metadata = {"name": name, "namespace": "default"}
    spec = {"forProvider": {"text": text, **parameters}}
    return {"apiVersion": NOTE.api_version, "kind": NOTE.kind, "metadata": metadata, "spec": spec}
