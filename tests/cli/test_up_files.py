"""`crossply up FILES`: they are applied in order, again after every save, and what comes of it is shown."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from crossply.cli.main import main
from tests.support.cli.app_platform import COMPOSITION, DEFINITION, XR, write_platform
from tests.support.cli.up_process import CROSSPLY
from tests.support.terminal import Terminal, terminal

# They share one window, and each goes on from where the one before ended.
pytestmark = pytest.mark.xdist_group("up-files")

WORDS = ["up", "--in-memory", "--data", ".state"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("loop")
    write_platform(path)
    return path


@pytest.fixture(scope="module")
def window(folder: Path) -> Iterator[Terminal]:
    """A terminal in which the loop runs, with all ready."""
    command = [CROSSPLY, *WORDS, "--watch", "app.yaml", "platform"]
    with terminal(command, rows=60, columns=140, cwd=folder) as shown:
        shown.wait_for(lambda text: "✓ True   ✓ True" in text and "└─ ConfigMap/shop-" in text)
        yield shown
        shown.type("\x03")
        assert shown.finish() == 0


def apply(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Apply files to the control plane that runs already."""
    return subprocess.run([CROSSPLY, *WORDS, *words], cwd=folder, capture_output=True, text=True, timeout=120)


def test_all_files_are_applied_and_the_tree_is_shown(window: Terminal) -> None:
    text = window.wait_for("resource settings created")
    assert "+ CompositeResourceDefinition/apps.acme.test created" in text
    assert "+ App/shop (default) created" in text
    assert "CompositionTest" not in text, "suites are not for API servers"
    assert "Project" not in text, "nor are projects"
    assert "level=" not in text, "the log goes to a file"


def test_a_save_shows_the_changes_of_the_composed_resources(window: Terminal, folder: Path) -> None:
    composition = folder / "platform" / "composition.yaml"
    composition.write_text(COMPOSITION.replace("region: eu", "region: us"))
    text = window.wait_for('~ data.region: "eu" → "us"')
    assert 'base.data.region: "eu" → "us"' in text
    assert "~ ConfigMap/shop-" in text


def test_a_broken_file_is_reported_with_its_line_and_changes_nothing(window: Terminal, folder: Path) -> None:
    composition = folder / "platform" / "composition.yaml"
    text = composition.read_text()
    composition.write_text(text.replace("data: {region", "data: {{region"))
    shown = window.wait_for("! platform/composition.yaml:19: cannot parse YAML manifest")
    assert "    try: check the indentation, quotes and brackets near this line" in shown
    composition.write_text(text)
    window.wait_for("= nothing changed")


def test_an_object_that_the_server_refuses_is_reported_and_the_others_are_applied(
    window: Terminal, folder: Path
) -> None:
    (folder / "platform" / "more.yaml").write_text(
        XR.replace("shop", "refused").replace("red", "[]") + "---\n" + XR.replace("shop", "second")
    )
    text = window.wait_for("└─ ConfigMap/second-")
    assert "! App/refused (default): " in text
    assert "at platform/more.yaml:1" in text


def test_a_refused_or_briefly_empty_xr_keeps_its_tree(window: Terminal, folder: Path) -> None:
    app = folder / "app.yaml"
    text = app.read_text()
    app.write_text(text.replace("red", "[]"))
    shown = window.wait_for("! App/shop (default): ")
    assert "└─ ConfigMap/shop-" in shown
    app.write_text("")
    shown = window.wait_for("! app.yaml: the file is empty; nothing of it is deleted")
    assert "└─ ConfigMap/shop-" in shown
    app.write_text(text)
    shown = window.wait_for(lambda shown: "✓ True   ✓ True" in shown and shown.count("applied app.yaml") > 2)
    assert "- ConfigMap/" not in shown


def test_a_kind_that_nothing_serves_holds_up_neither_trees_nor_saves(window: Terminal, folder: Path) -> None:
    early = folder / "platform" / "early.yaml"
    early.write_text(XR.replace("App", "Ap").replace("shop", "early") + "---\n" + XR.replace("shop", "third"))
    window.wait_for("waiting for Ap (acme.test/v1) to be served")
    window.wait_for("└─ ConfigMap/third-")
    early.write_text(XR.replace("shop", "early"))
    window.wait_for(lambda text: "+ App/early (default) created" in text and "waiting for" not in text)
    early.unlink()
    window.wait_for("- App/early (default) deleted")


def test_objects_that_leave_the_files_are_deleted_but_not_definitions(window: Terminal, folder: Path) -> None:
    (folder / "platform" / "more.yaml").unlink()
    window.wait_for("- App/second (default) deleted")
    window.wait_for(lambda text: "─ ConfigMap/second-" not in text)
    extra = folder / "platform" / "extra.yaml"
    extra.write_text(DEFINITION.replace("apps", "tools").replace("App", "Tool"))
    window.wait_for("+ CompositeResourceDefinition/tools.acme.test created")
    extra.unlink()
    window.wait_for("! CompositeResourceDefinition/tools.acme.test is no longer in the files, and is kept")


def test_files_are_applied_to_a_control_plane_that_runs_already(window: Terminal, folder: Path) -> None:
    (folder / "other.yaml").write_text(XR.replace("shop", "other"))
    done = apply(folder, "other.yaml")
    assert (done.returncode, done.stdout) == (
        0,
        "+ App/other (default) created\napplied 1 object: 1 created\n",
    ), done.stderr
    (folder / "other.yaml").write_text(XR.replace("shop", "other").replace("red", "7"))
    done = apply(folder, "other.yaml")
    assert done.returncode == 1
    assert "crossply: warning: App/other (default) at other.yaml:1: " in done.stderr
    assert "spec.color" in done.stderr


def test_where_nothing_can_be_painted_over_changes_are_lines(window: Terminal, folder: Path) -> None:
    file = folder / "lines.yaml"
    file.write_text(XR.replace("shop", "lines"))
    command = [CROSSPLY, *WORDS, "--watch", "lines.yaml"]
    with terminal(command, {"TERM": "dumb"}, rows=60, columns=140, cwd=folder) as shown:
        shown.wait_for("+ ConfigMap/lines-")
        file.write_text(XR.replace("shop", "lines").replace("red", "blue"))
        text = shown.wait_for('~ data.color: "red" -> "blue"')
        assert "\x1b" not in shown.written
        assert "NAME" not in text
        shown.type("\x03")
        assert shown.finish() == 0


def test_top_shows_the_control_plane_at_work(window: Terminal, folder: Path) -> None:
    command = [CROSSPLY, "top", "--data", ".state"]
    done = subprocess.run([*command, "-o", "json"], cwd=folder, capture_output=True, timeout=120, check=True)
    figures = json.loads(done.stdout)
    apps = next(kind for kind in figures["composites"] if kind["kind"] == "App")
    assert apps["states"]["ready"] >= 1
    assert figures["controlPlane"]["reconciles"] > 0
    function = figures["controlPlane"]["functions"][0]
    assert function["name"] == "function-patch-and-transform"
    assert function["calls"] > 0
    assert 0 < function["p50"] <= function["p99"]
    with terminal([*command, "--interval", "300ms"], columns=120, cwd=folder) as shown:
        text = shown.wait_for("function-patch-and-transform")
        assert "reconciles/s" in text
        assert "✓ READY" in text
        shown.type("\x03")
        assert shown.finish() == 0


@pytest.mark.parametrize(
    ("words", "code", "lines"),
    [
        (["ap.yaml"], 1, ["crossply: try: app.yaml", "cannot apply {}/ap.yaml: no such file or directory"]),
        (["empty"], 1, ["cannot apply {}/empty: there is no .yaml or .yml file below it"]),
        (["--watch"], 80, ["crossply: try: crossply up --watch platform/ xr.yaml", "--watch needs files"]),
    ],
)
def test_paths_are_checked_before_anything_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words, code, lines
) -> None:
    (tmp_path / "app.yaml").write_text(XR)
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    assert main([*WORDS, *words]) == code
    printed = capsys.readouterr().err
    for line in lines:
        assert line.format(os.path.realpath(tmp_path)) in printed
    assert not (tmp_path / ".state").exists()
