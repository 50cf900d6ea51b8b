from __future__ import annotations

import pathlib

import pytest

from tests.support.suite_folder import Folder


@pytest.fixture
def folder(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Folder:
    monkeypatch.chdir(tmp_path)
    return Folder(tmp_path, capsys)
