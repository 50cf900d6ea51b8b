"""The configuration file: its location, its keys and how it is changed."""

from __future__ import annotations

import os

import pytest

from crossply.cli.framework import config_file as config
from crossply.cli.main import main

PLACES = [
    (["--config", "a"], {"CROSSPLANE_CONFIG": "b"}, "a", "the flag comes first"),
    (["view", "--config=a"], {}, "a", "wherever it stands"),
    (["--", "--config=a"], {"CROSSPLANE_CONFIG": "b"}, "b", "unless it is no flag"),
    ([], {"CROSSPLANE_CONFIG": "b", "HOME": "/h"}, "b", "then the environment"),
    ([], {"XDG_CONFIG_HOME": "/x", "HOME": "/h"}, "/x/crossplane/config.yaml", "then the XDG directory"),
    ([], {"HOME": "/h"}, "/h/.config/crossplane/config.yaml", "then the home directory"),
    ([], {}, "", "there may be none"),
]


@pytest.mark.parametrize(("words", "environ", "path", "why"), PLACES, ids=[row[3] for row in PLACES])
def test_the_search_path_of_the_file(words, environ, path, why) -> None:
    assert config.locate(words, environ) == path, why


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path / "c.yaml"


DECODING = "cannot parse config file c.yaml: error unmarshaling JSON: while decoding JSON: json: "
FIELD = "into Go struct field Config."

WRONG = [
    ("a: [", "cannot parse config file c.yaml: error converting YAML to JSON: yaml: line 1: "),
    ("version: 2", "unsupported config version 2\n"),
    ("features: {}", "unsupported config version 0\n"),
    ("", "unsupported config version 0\n"),
    ("[]", f"{DECODING}cannot unmarshal array into Go value of type config.Config\n"),
    ("version: x", f"{DECODING}cannot unmarshal string {FIELD}version of type int\n"),
    (
        "{version: 1, features: 1}",
        f"{DECODING}cannot unmarshal number {FIELD}features of type config.Features\n",
    ),
    (
        "{version: 1, features: {enableAlpha: 1}}",
        f"{DECODING}cannot unmarshal number {FIELD}features.enableAlpha of type bool\n",
    ),
]


@pytest.mark.parametrize(("text", "sentence"), WRONG, ids=[row[0] for row in WRONG])
def test_a_wrong_file_stops_every_command(text: str, sentence: str, file, capsys) -> None:
    file.write_text(text)
    assert main(["version", "--client", "--config", "c.yaml"]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines(keepends=True)[-1].startswith(f"crossply: {sentence}")


def test_a_directory_cannot_be_read(file, capsys) -> None:
    file.mkdir()
    assert main(["version", "--client", "--config", "c.yaml"]) == 1
    sentence = "crossply: cannot read config file c.yaml: open c.yaml: is a directory\n"
    assert capsys.readouterr().err.endswith(sentence)


def test_a_missing_file_gives_the_defaults(file, capsys) -> None:
    assert main(["config", "view", "--config", "c.yaml"]) == 0
    assert capsys.readouterr().out == "version: 1\n"


def test_a_flag_without_a_value_is_refused(capsys) -> None:
    assert main(["version", "--config"]) == 1
    assert capsys.readouterr().err.endswith("crossply: flag --config requires a value\n")


def test_a_set_value_can_be_viewed(file, capsys, monkeypatch) -> None:
    monkeypatch.setenv("CROSSPLANE_CONFIG", "deep/er/c.yaml")
    assert main(["config", "set", "features.enableAlpha", "true"]) == 0
    assert main(["config", "set", "features.disableBeta", "T"]) == 0
    assert main(["config", "set", "features.enableAlpha", "false"]) == 0
    assert main(["config", "view"]) == 0
    assert capsys.readouterr().out == "features:\n  disableBeta: true\nversion: 1\n"
    assert os.stat("deep/er/c.yaml").st_mode & 0o777 == 0o600


UNSETTABLE = [
    (["x", "true"], 'unknown config key "x" (supported: features.disableBeta, features.enableAlpha, '),
    (
        ["features.enableAlpha", "yes"],
        'invalid bool value "yes" for key features.enableAlpha: '
        'strconv.ParseBool: parsing "yes": invalid syntax',
    ),
]


@pytest.mark.parametrize(("words", "sentence"), UNSETTABLE)
def test_an_invalid_setting_is_refused(words: list[str], sentence: str, file, capsys) -> None:
    assert main(["config", "set", *words, "--config", "c.yaml"]) == 1
    assert capsys.readouterr().err.startswith(f"crossply: error: {sentence}")
    assert not file.exists()


def test_a_file_that_cannot_be_written(file, capsys) -> None:
    file.write_text("version: 1")
    assert main(["config", "set", "features.enableAlpha", "1", "--config", "c.yaml/x"]) == 1
    sentence = "crossply: error: cannot create config directory c.yaml: mkdir c.yaml: file exists\n"
    assert capsys.readouterr().err == sentence


@pytest.mark.parametrize(
    ("features", "hidden"),
    [({}, {"alpha"}), ({"enableAlpha": True}, set()), ({"disableBeta": True}, {"alpha", "beta"})],
)
def test_features_decide_which_commands_are_shown(features, hidden) -> None:
    assert config.concealed(config.with_features(features)) == hidden
