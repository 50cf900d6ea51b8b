"""Snapshots of the `render` fixture, in files beside the test."""

from __future__ import annotations

import os
from typing import NamedTuple

from crossply.compose.in_memory_reconcile import Rendered
from crossply.manifests.file_io import make_directory, write_file
from crossply.manifests.files import read_documents
from crossply.rendering.output import documents
from crossply.testing.report import finding_lines, finding_of
from crossply.testing.snapshots import FOLDER_ENDING, compare, file_name, text_of

UPDATE = "--crossply-update"


class Snapshots(NamedTuple):
    """The snapshots of one test."""

    file: str
    test: str
    update: bool

    def problems(self, rendered: Rendered, name: str) -> list[str]:
        """The differences from the snapshot as lines; with the update flag it is written instead."""
        folder = os.path.splitext(self.file)[0] + FOLDER_ENDING
        path = os.path.join(folder, file_name(f"{self.test} {name}", 1, 1))
        shown = documents(rendered, None, results=True, context=True)
        if self.update:
            make_directory(folder, "cannot write snapshot")
            write_file(path, text_of(shown), "cannot write snapshot")
            return []
        if not os.path.exists(path):
            return [f"there is no snapshot {path} yet: write it with {UPDATE}"]
        stored = read_documents(path, "cannot read snapshot")
        findings = [finding_of(mismatch, place or path, 0) for mismatch, place in compare(stored, shown)]
        return [line for finding in findings for line in finding_lines(finding)]
