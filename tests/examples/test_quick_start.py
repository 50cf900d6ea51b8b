"""What `make run` does, done; and every line that it prints, tried."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from crossply.cli.local_control_plane.lock import is_locked
from tests.support.patience import PATIENCE
from tests.support.programs import needs

pytestmark = pytest.mark.xdist_group("quick-start")

ROOT = Path(__file__).parents[2]
FIRST_PORT = 10000 + os.getpid() % 500 * 20
PORTS = f"{FIRST_PORT}-{FIRST_PORT + 19}"
"""Others on this machine use the ports that the provider chooses by default."""
CROSSPLY = str(Path(sys.executable).parent / "crossply")


class QuickStart(NamedTuple):
    """A quick start that is Ready."""

    data: Path
    printed: str

    @property
    def url(self) -> str:
        match = re.search(r"^Website hello is Ready at (http://127\.0\.0\.1:\d+/)\.", self.printed, re.M)
        assert match, self.printed
        return match[1]

    def command(self, start: str) -> str:
        """The printed line that begins so."""
        (line,) = [line for line in self.printed.splitlines() if line.startswith(f"  {start}")]
        return line.strip()

    def run(self, start: str) -> str:
        """Run a printed command."""
        return run_line(self.command(start), self.data, ROOT)


def run_line(line: str, data: Path, directory: Path) -> str:
    """What a line of a shell prints."""
    done = subprocess.run(
        ["sh", "-ec", line],
        cwd=directory,
        env={**os.environ, "KUBECONFIG": str(data / "kubeconfig")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"{line}: {done.stderr}"
    return done.stdout


def start(data: Path) -> str:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "quickstart.py")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=180,
        env={**os.environ, "CROSSPLY_QUICK_START_DATA": str(data), "CROSSPLY_LOCAL_PORTS": PORTS},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def stop(data: Path) -> None:
    down = [CROSSPLY, "down", "--data", str(data)]
    assert subprocess.run(down, timeout=120, check=False, capture_output=True).returncode == 0


@pytest.fixture(scope="module")
def quick_start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[QuickStart]:
    data = tmp_path_factory.mktemp("quick-start")
    try:
        yield QuickStart(data, start(data))
    finally:
        stop(data)


def page(url: str) -> str:
    """The page; empty where nothing listens or there is no such file."""
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            return str(answer.read().decode())
    except urllib.error.URLError:
        return ""


def eventually(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_closed(url: str) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", int(url.rstrip("/").rpartition(":")[2]))) != 0


# These run in this order, on one control plane.


def test_it_ends_with_a_page(quick_start: QuickStart) -> None:
    assert "It is made of:\n  Directory hello-" in quick_start.printed
    text = page(quick_start.url)
    assert "<h1>Hello from Crossply</h1>" in text
    assert "Good morning" in text
    assert quick_start.command("export KUBECONFIG=").endswith(str(quick_start.data / "kubeconfig"))


def test_a_file_that_is_deleted_comes_back(quick_start: QuickStart) -> None:
    before = page(quick_start.url)
    quick_start.run("rm ")
    eventually(lambda: page(quick_start.url) == before)


def test_it_comes_back_after_the_provider_was_killed(quick_start: QuickStart) -> None:
    log = quick_start.data / "logs" / "provider" / "provider-local.log"
    started = re.findall(r"started as process (\d+)", log.read_text())
    os.kill(int(started[-1]), signal.SIGKILL)
    eventually(lambda: len(re.findall(r"started as process \d+", log.read_text())) > len(started))
    eventually(lambda: "Hello from Crossply" in page(quick_start.url))


def test_it_ends_with_the_control_plane_and_comes_back_with_it(quick_start: QuickStart) -> None:
    stop(quick_start.data)
    assert is_closed(quick_start.url)
    assert not is_locked(str(quick_start.data))
    assert f"Ready at {quick_start.url}" in start(quick_start.data)
    assert "Hello from Crossply" in page(quick_start.url)


def test_a_second_start_reuses_the_running_control_plane(quick_start: QuickStart) -> None:
    output = start(quick_start.data)
    assert "Starting a control plane" not in output
    assert f"Ready at {quick_start.url}" in output


@needs("kubectl")
def test_every_other_line_that_it_prints_works(quick_start: QuickStart) -> None:
    shown = quick_start.run("kubectl get website,directory,file,webserver")
    assert quick_start.url in shown
    assert "webserver.local.crossply.dev/hello-" in shown
    assert "WebServer/hello-" in quick_start.run(".venv/bin/crossply trace")
    assert "kind: WebServer" in quick_start.run(".venv/bin/crossply render")

    quick_start.run("kubectl patch website hello")
    eventually(lambda: "Good evening" in page(quick_start.url))

    quick_start.run("kill ")
    eventually(lambda: "Good evening" in page(quick_start.url))

    quick_start.run("kubectl delete website hello")
    eventually(lambda: is_closed(quick_start.url))
    files = quick_start.data / "provider-data" / "provider-local" / "default"
    eventually(lambda: list(files.iterdir()) == [])


@needs("kubectl")
def test_the_commands_of_the_page_about_the_provider_work(quick_start: QuickStart) -> None:
    text = (ROOT / "docs" / "how-to" / "local-provider.md").read_text()
    lines = text[text.index("## Serve a page") :].splitlines()
    printed = [
        run_line(line.removeprefix("$ "), quick_start.data, ROOT) for line in lines if line.startswith("$ ")
    ]
    assert "<h1>It works</h1>\n" in printed
    assert printed[-1].endswith("/people.db")


@needs("kubectl")
def test_the_commands_of_the_readme_apply_it_by_hand(quick_start: QuickStart) -> None:
    example = ROOT / "examples" / "00-quick-start"
    lines = (example / "README.md").read_text().splitlines()
    commands = [line.removeprefix("$ ") for line in lines if line.startswith("$ kubectl ")]
    shown = ""
    for command in commands:
        shown = run_line(command, quick_start.data, example)
    assert re.search(r"hello +http://127", shown), shown
