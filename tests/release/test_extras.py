"""Optional dependencies are named where they are missing, with the command that installs them."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from crossply.extras import EXTRAS, command_for, install_command
from tests.support.docs.pages import pages
from tests.support.paths import ROOT

WITHOUT = """
import importlib.util, sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == {module!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hidden())
sys.modules.pop({module!r}, None)
"""


def test_every_extra_of_the_package_belongs_to_a_module():
    with open(ROOT / "pyproject.toml", "rb") as file:
        declared = tomllib.load(file)["project"]["optional-dependencies"]
    assert set(EXTRAS.values()) == set(declared)


PIPX, UV, VENV = (
    "/home/a/.local/share/pipx/venvs/crossply",
    "/home/a/.local/share/uv/tools/crossply",
    "/srv/venv",
)
"""Environments, which need not exist."""


@pytest.mark.parametrize(
    ("prefix", "command"),
    [
        (PIPX, "pipx install --force 'crossply[otel]'"),
        (UV, "uv tool install 'crossply[otel]'"),
        (VENV, "pip install 'crossply[otel]'"),
    ],
)
def test_the_command_fits_what_installed_crossply_from_an_index(prefix, command):
    assert command_for("otel", prefix, {}, "") == command


@pytest.mark.parametrize(
    ("prefix", "command"),
    [
        (PIPX, "pipx install --force -e '{}[kcl]'"),
        (UV, "uv tool install -e '{}[kcl]'"),
        (VENV, "pip install -e '{}[kcl]'"),
    ],
)
def test_the_command_names_the_checkout_that_crossply_runs_from(tmp_path, prefix, command):
    checkout = tmp_path / "a checkout"
    checkout.mkdir()
    origin = {"url": checkout.as_uri(), "dir_info": {"editable": True}}
    assert command_for("kcl", prefix, origin, "") == command.format(checkout)


@pytest.mark.parametrize("info", [{"archive_info": {}}, {"dir_info": {}}])
def test_the_command_names_the_file_or_directory_that_was_installed_as_long_as_it_exists(tmp_path, info):
    wheel = tmp_path / "crossply-0.2.0-py3-none-any.whl"
    origin = {"url": wheel.as_uri(), **info}
    assert command_for("otel", VENV, origin, "") == "pip install 'crossply[otel]'"
    wheel.touch()
    assert command_for("otel", VENV, origin, "") == f"pip install 'crossply[otel] @ {wheel.as_uri()}'"


def test_the_command_calls_the_pip_of_its_environment(tmp_path):
    programs = tmp_path / "bin"
    programs.mkdir()
    pip = programs / "pip"
    pip.touch(0o755)
    assert command_for("otel", str(tmp_path), {}, "/usr/bin") == f"{pip} install 'crossply[otel]'"
    assert command_for("otel", str(tmp_path), {}, f"{programs}:/usr/bin") == "pip install 'crossply[otel]'"


def test_the_command_can_be_followed_without_a_network(tmp_path: Path):
    """pip understands the requirement, and sees the extra that it asks for."""
    command = shlex.split(install_command("otel"))
    words = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-index", "--no-build-isolation"]
    done = subprocess.run(
        [*words, "--no-deps", *command[command.index("install") + 1 :]],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert "does not provide the extra" not in done.stderr


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_a_page_that_installs_from_an_index_says_what_to_do_in_a_checkout(page):
    """A version is on an index only after its release."""
    commands = [text for text in (*(span.text for span in page.spans), *_lines(page)) if "install" in text]
    if any(re.search(r"(pipx?|uv tool) install (--force )?'?crossply\b(?!-)", text) for text in commands):
        assert any(re.search(r"(pipx?|uv tool) install '?\.(\[|$|')", text) for text in commands)


def _lines(page):
    return [line for block in page.blocks for line in block.text.split("\n")]


def test_a_provider_without_its_client_library_names_the_extra(tmp_path: Path):
    source = ROOT / "providers" / "postgresql"
    code = WITHOUT.format(module="psycopg") + (
        "from crossply.provider.provider_directory import load_provider\n"
        "from crossply.errors import CrossplyError\n"
        f"try: load_provider({str(source)!r})\n"
        "except CrossplyError as error: print(error.hint)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert f"providers/postgresql/requirements.txt, or {install_command('postgresql')}" in done.stdout


def test_traces_without_opentelemetry_name_the_extra(tmp_path: Path):
    code = WITHOUT.format(module="opentelemetry") + (
        "importlib.util.find_spec = lambda name: None\n"
        "from crossply.record.tracing import obstacle\n"
        "print(obstacle({}))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout == f"OpenTelemetry is not installed: run {install_command('otel')}\n", done.stderr
