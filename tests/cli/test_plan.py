"""Errors of `crossply plan` before it starts, with their hints."""

from __future__ import annotations

import json

import pytest

from crossply.cli.main import main
from tests.support.cli.app_platform import PROJECT

XR = "apiVersion: example.org/v1\nkind: Thing\nmetadata: {name: it}\n"


@pytest.fixture
def unreachable(tmp_path):
    """A kubeconfig of a server that is not there."""
    path = tmp_path / "kubeconfig"
    cluster = {"name": "it", "cluster": {"server": "https://127.0.0.1:1"}}
    context = {"name": "it", "context": {"cluster": "it", "user": "me"}}
    user = {"name": "me", "user": {"token": "x"}}
    document = {"clusters": [cluster], "contexts": [context], "users": [user], "current-context": "it"}
    path.write_text(json.dumps(document))
    return str(path)


@pytest.mark.parametrize(
    ("content", "flags", "message", "hint"),
    [
        (XR, (), "Connect call failed", "check that the API server runs"),
        (XR, ("--context", "other"), 'no context named "other"', "kubeconfig"),
        ("kind: [", (), "error converting YAML to JSON", ""),
        ("just: data", (), "Object 'Kind' is missing", "every object needs kind"),
        (PROJECT, (), "the files have no objects", "XRs, Compositions or XRDs"),
        ("# nothing", (), "the files have no objects", "XRs, Compositions or XRDs"),
    ],
)
def test_a_plan_that_cannot_start_gives_the_reason_and_a_hint(
    tmp_path, unreachable, capsys, content, flags, message, hint
):
    (tmp_path / "it.yaml").write_text(content)
    code = main(["plan", str(tmp_path / "it.yaml"), "--kubeconfig", unreachable, *flags])
    captured = capsys.readouterr()
    assert code == 1
    assert captured.out == ""
    assert message in captured.err
    assert hint in captured.err
    assert "Traceback" not in captured.err


def test_a_file_is_required(capsys):
    assert main(["plan"]) == 80
    assert capsys.readouterr().err.splitlines() == [
        "crossply: try: crossply plan xr.yaml",
        "crossply: error: name at least one file or directory",
    ]


def test_files_are_arguments_or_flags(tmp_path, unreachable, capsys):
    for words in (["nowhere.yaml"], ["-f", "nowhere.yaml"]):
        assert main(["plan", *words, "--kubeconfig", unreachable]) == 1
        assert "nowhere.yaml" in capsys.readouterr().err.splitlines()[-1]
