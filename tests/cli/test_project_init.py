"""`crossply project init` makes a project of nothing, and nothing where there is something."""

from __future__ import annotations

from pathlib import Path

import pytest

from crossply.project.folder import open_project
from tests.support.cli.command import Run, last


def test_a_project_has_a_file_and_a_folder_for_every_part(project: Run, tmp_path: Path) -> None:
    code, out, _ = project("init", "platform")
    assert (code, out) == (0, "")
    directory = tmp_path / "platform"
    assert sorted(str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file()) == [
        "apis/.gitkeep",
        "crossplane-project.yaml",
        "examples/.gitkeep",
        "functions/.gitkeep",
        "operations/.gitkeep",
        "tests/.gitkeep",
    ]
    opened_project = open_project(str(directory / "crossplane-project.yaml")).project
    assert (opened_project.name, opened_project.repository) == ("platform", "example.com/my-org/platform")


def test_registry_repository_and_directory_can_be_chosen(project: Run, tmp_path: Path) -> None:
    (tmp_path / "here" / ".git").mkdir(parents=True)
    words = ("-r", "registry.test:5000/team/", "--repository", "ours", "-d", "here")
    assert project("init", "platform", *words)[0] == 0
    opened_project = open_project(str(tmp_path / "here" / "crossplane-project.yaml")).project
    assert opened_project.repository == "registry.test:5000/team/ours"
    assert project("init", "p", "--registry=acme")[0] == 0
    opened_project = open_project(str(tmp_path / "p" / "crossplane-project.yaml")).project
    assert opened_project.repository == "index.docker.io/acme/p", "a registry that is not named is Docker's"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["My_Project"], "'My_Project' is not a valid project name. DNS-1035 constraints: a DNS-1035 label"),
        (["full"], "directory full is not empty"),
        (["file"], "path file is not a directory"),
        (["p", "--registry= /"], "registry cannot be empty; set --registry to an OCI registry prefix"),
        (["p", "--repository=A"], 'cannot build repository "example.com/my-org/A": repository can only'),
    ],
)
def test_a_failed_init_leaves_nothing_behind(
    project: Run, tmp_path: Path, words: list[str], sentence: str
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("")
    (tmp_path / "file").write_text("")
    before = sorted(tmp_path.rglob("*"))
    code, out, err = project("init", *words)
    assert (code, out) == (1, "")
    assert last(err).startswith(sentence)
    assert sorted(tmp_path.rglob("*")) == before
