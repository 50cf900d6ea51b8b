"""Which data directories are opened without asking."""

from __future__ import annotations

import os
import shutil
import stat

import pytest

from tests.support.cli.up_process import crossply

UP = ("up", "--in-memory", "--listen=192.0.2.1:1")
"""It opens the directory first; then it fails at once, because this machine does not have the address."""
OPENED, FOREIGN_DIRECTORY = "did not start", "was not made by you on this machine"


@pytest.fixture
def project(tmp_path):
    """The data directory of a control plane."""
    directory = tmp_path / "project"
    directory.mkdir()
    assert OPENED in crossply(*UP, cwd=directory).stderr
    assert stat.S_IMODE((directory / ".crossply").stat().st_mode) == 0o700
    return directory


def test_a_directory_created_here_can_be_reopened(project):
    assert OPENED in crossply(*UP, cwd=project).stderr


@pytest.mark.parametrize("command", [UP, ("up", "--detach"), ("apiserver", "--listen=127.0.0.1:0")])
def test_a_directory_that_came_with_a_checkout_is_refused_until_it_is_named(project, command, tmp_path):
    checkout = tmp_path / "checkout"
    shutil.copytree(project, checkout)
    done = crossply(*command, cwd=checkout)
    assert done.returncode == 1
    assert FOREIGN_DIRECTORY in done.stderr
    assert f"--data {checkout}/.crossply" in done.stderr
    assert OPENED in crossply(*UP, "--data=.crossply", cwd=checkout).stderr
    assert OPENED in crossply(*UP, cwd=checkout).stderr, "it was trusted once"


def test_a_directory_without_a_sign_of_its_origin_is_refused(project):
    (project / ".crossply" / "origin").unlink()
    assert FOREIGN_DIRECTORY in crossply(*UP, cwd=project).stderr


@pytest.mark.parametrize("words", [UP, (*UP, "--data=.crossply"), ("down",)])
def test_a_directory_that_others_can_write_to_is_refused(project, words):
    (project / ".crossply").chmod(0o720)
    done = crossply(*words, cwd=project)
    assert done.returncode == 1
    assert f"other users can write to the data directory {project}/.crossply" in done.stderr
    assert f"chmod go-w {project}/.crossply" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory to another user")
@pytest.mark.parametrize("words", [UP, (*UP, "--data=.crossply"), ("down",)])
def test_a_directory_of_another_user_is_refused(project, words):
    os.chown(project / ".crossply", 12345, 12345)
    done = crossply(*words, cwd=project)
    assert done.returncode == 1
    assert "belongs to user 12345, and you are user 0" in done.stderr


def test_where_there_is_no_directory_nothing_runs(tmp_path):
    assert crossply("down", cwd=tmp_path).stdout == "not running\n"
    assert not (tmp_path / ".crossply").exists()
