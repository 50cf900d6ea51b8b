"""Programs in Python print tests: a main.py with models, or a project that prints YAML. They run confined."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.suite_folder import COMPOSITION, Folder
from tests.support.upbound_project import PROJECT, XRD

pytest.importorskip("pydantic")
MAIN = '''\
"""Tests of apps."""
from .model.io.upbound.dev.meta.compositiontest import v1alpha1 as compositiontest
from .model.io.k8s.apimachinery.pkg.apis.meta import v1 as k8s
from .model.org.example.app import v1 as app

from . import resources

xr = app.App(
    apiVersion="example.org/v1",
    kind="App",
    metadata=k8s.ObjectMeta(name="shop", namespace="team"),
    spec=app.Spec(size=3, cdn="small"),
)
test = compositiontest.CompositionTest(
    metadata=k8s.ObjectMeta(name="in-python"),
    spec=compositiontest.Spec(
        assertResources=[xr.model_dump(exclude_unset=True), resources.bucket],
        compositionPath="apis/composition.yaml",
        xr=xr.model_dump(),
        timeoutSeconds=60,
        validate=False,
    ),
)
'''
RESOURCES = 'bucket = {"apiVersion": "example.org/v1", "kind": "Bucket", "spec": {"size": 3}}\n'


@pytest.fixture
def project(folder: Folder) -> Folder:
    (folder.path / "composition.yaml").unlink()
    folder.write("upbound.yaml", PROJECT)
    folder.write("apis/composition.yaml", COMPOSITION)
    folder.write("apis/definition.yaml", XRD)
    return folder


def write_program(project: Folder, main: str = MAIN) -> None:
    project.write("tests/test-app/main.py", main)
    project.write("tests/test-app/resources.py", RESOURCES)
    (project.path / "tests/test-app/model").symlink_to("../../.up/python/models")


def test_a_main_file_has_tests_among_its_variables(project: Folder) -> None:
    write_program(project)
    result = project.run()
    assert (result.code, "tests/test-app/main.py\n  ✓ in-python" in result.out) == (0, True), result.out
    project.write("tests/test-app/resources.py", RESOURCES.replace("3", "4"))
    result = project.run()
    assert (result.code, "Bucket: spec.size" in result.out) == (1, True), result.out


def test_a_list_of_tests_counts_every_test_once(project: Folder) -> None:
    write_program(project, MAIN + "all = [test, test.model_copy(deep=True)]\nagain = test\n")
    assert "2 passed" in project.run().out


def test_a_project_prints_its_tests(project: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    main = MAIN.replace("from .model.", "from models.").replace("from . import", "from test import")
    printed = 'import os, yaml\nname = os.environ["UP_NAME"]\ntest.metadata.name = name\n'
    dumped = "print(yaml.dump({'items': [test.model_dump(by_alias=True, exclude_none=True)]}))\ndel test\n"
    project.write("tests/test-app/pyproject.toml", "[project]\nname = 'test'\n")
    project.write("tests/test-app/test/__init__.py", "")
    project.write("tests/test-app/test/__main__.py", main + printed + dumped)
    project.write("tests/test-app/test/resources.py", RESOURCES)
    monkeypatch.setenv("UP_NAME", "from-outside")
    result = project.run()
    assert (result.code, "✓ from-outside" in result.out) == (0, True), result.out


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("raise ValueError('no')", "main.py:24: ValueError: no"),
        ("open('/etc/passwd')", "no access to files"),
        ("import os\nos.listdir('/')", "no access to"),
        ("import socket\nsocket.socket()", "no access to the network"),
        ("import subprocess\nsubprocess.run(['id'])", "no access to processes"),
        ("import os\nassert not os.environ.get('SECRET')\nraise ValueError('hidden')", "hidden"),
        ("x = bytearray(1 << 30)", "main.py:24: takes more than 256 MiB of memory"),
        ("import antigravity", "main.py:24: "),
        ("import test.__main__", "main.py:24: "),
        ("import nothing_of_this_name", "pip install -r requirements.txt"),
        ("from .model.io.acme.lamp import v1", "crossply dependency update-cache"),
        ("x = (", "main.py"),
    ],
)
def test_forbidden_actions_of_a_program_are_reported(
    project: Folder, monkeypatch: pytest.MonkeyPatch, line: str, sentence: str
) -> None:
    monkeypatch.setenv("SECRET", "x")
    write_program(project, f"{MAIN}{line}\n")
    result = project.run()
    assert (result.code, sentence in result.out) == (2, True), result.out


def test_a_link_out_of_the_project_is_not_followed(project: Folder, tmp_path_factory: Any) -> None:
    elsewhere: Path = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "secret.py").write_text("value = 1\n")
    write_program(project, "from .away import secret\n")
    (project.path / "tests/test-app/away").symlink_to(elsewhere)
    assert "No module named" in project.run().out


@pytest.mark.parametrize("link", [".up/python", ".up/python/models", ".up/python/pyproject.toml"])
def test_models_are_not_written_through_a_link(project: Folder, tmp_path_factory: Any, link: str) -> None:
    elsewhere: Path = tmp_path_factory.mktemp("elsewhere")
    target = elsewhere / "precious" if link.endswith(".toml") else elsewhere
    if target != elsewhere:
        target.write_text("precious\n")
    before = {path: path.read_text() for path in elsewhere.iterdir()}
    write_program(project)
    (project.path / link).parent.mkdir(parents=True, exist_ok=True)
    (project.path / link).symlink_to(target)
    result = project.run()
    assert (result.code, "is reached through a symbolic link" in result.out + result.err) == (2, True)
    assert {path: path.read_text() for path in elsewhere.iterdir()} == before


def test_output_that_is_no_test_is_reported(project: Folder) -> None:
    write_program(project, "value = 1\n")
    assert "prints no tests" in project.run().out
