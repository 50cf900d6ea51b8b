"""The CRDs that `crossply provider run` installs are read from files that people may edit."""

from __future__ import annotations

from pathlib import Path

import pytest

from crossply.cli.provider.development_run import read_crds

FIRST, SECOND = (
    {"kind": "CustomResourceDefinition", "number": 1},
    {"kind": "CustomResourceDefinition", "number": 2},
)
TEXTS = ("kind: CustomResourceDefinition\nnumber: 1\n", "kind: CustomResourceDefinition\nnumber: 2\n")


@pytest.mark.parametrize("start", ["", "# x\n", "---\n", "---\n# x\n---\n", "# x\n---\n\n---\n"])
def test_documents_of_comments_only_are_skipped(tmp_path: Path, start: str) -> None:
    path = tmp_path / "crd.yaml"
    path.write_text(start + TEXTS[0])
    assert read_crds([str(path)]) == [FIRST]


def test_all_crds_of_all_files_are_read(tmp_path: Path) -> None:
    both, none = tmp_path / "both.yaml", tmp_path / "none.yaml"
    both.write_text("---\n".join(TEXTS))
    none.write_text("# nothing\n---\n")
    assert read_crds([str(both), str(none)]) == [FIRST, SECOND]
