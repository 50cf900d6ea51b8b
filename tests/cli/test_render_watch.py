"""`render --watch`: edit a file, see the next rendering; Ctrl-C ends."""

from __future__ import annotations

import os
import signal
import subprocess

import pytest

from tests.support.cli.render_bench import CROSSPLY, FILES, XR, Bench, eventually


class Watching:
    """A `render --watch` under way."""

    def __init__(self, bench: Bench, *words: str) -> None:
        self.bench = bench
        self.err = bench.folder.parent / "err.txt"
        self.out = bench.folder.parent / "out.txt"
        with self.out.open("wb") as out, self.err.open("wb") as err:
            self.process = subprocess.Popen(
                [CROSSPLY, "render", *FILES, "--watch", *words], cwd=bench.folder, stdout=out, stderr=err
            )

    def wait_for(self, text: str, times: int = 1) -> None:
        eventually(lambda: (self.out.read_text() + self.err.read_text()).count(text) >= times)

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(15)


@pytest.fixture
def bench(tmp_path):
    folder = tmp_path / "files"
    folder.mkdir()
    return Bench(folder)


@pytest.fixture
def watching(bench):
    watching = Watching(bench, "-e", bench.write("required/one.yaml", XR) and "required")
    yield watching
    if watching.process.poll() is None:
        watching.process.kill()
    watching.process.wait(15)


def test_a_change_is_rendered_and_ctrl_c_ends(bench, watching) -> None:
    watching.wait_for("crossply: waiting for a change; Ctrl-C ends")
    watching.wait_for('size: "3"')
    bench.write("xr.yaml", {**XR, "spec": {"size": 4}})
    watching.wait_for('size: "4"')
    # A file that is briefly broken is reported, and the next save is awaited.
    bench.write("xr.yaml", "a: [")
    watching.wait_for("did not find expected node content")
    # Editors write another file and put it in the place of the first.
    os.replace(bench.write("new.yaml", {**XR, "spec": {"size": 5}}), bench.folder / "xr.yaml")
    watching.wait_for('size: "5"')
    assert watching.stop() == 0
    assert "Traceback" not in watching.err.read_text()


def test_a_file_that_is_added_to_a_directory_counts(bench, watching) -> None:
    watching.wait_for("waiting for a change")
    bench.write("unrelated.txt", "x")
    bench.write("required/two.yaml", "a: [")
    watching.wait_for("cannot load required resources")
    assert watching.out.read_text().count("kind: XApp\n") >= 1
    assert watching.process.poll() is None
