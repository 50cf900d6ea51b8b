"""Snapshots: the whole result of a round, stored in a file and compared field by field.

The documents are those that `render` prints, results and context included.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from crossply.compose.object_metadata import name_of, text_in
from crossply.testing.expectation_check import Mismatch
from crossply.testing.reconcile_rounds import resource_name
from crossply.testing.suite import EXACT
from crossply.testing.value_matching import mismatches, written_path
from crossply.values import Object
from crossply.values.differences import MISSING
from crossply.values.yaml import Document, dump_all

_LONGEST = 60
FOLDER_ENDING = ".snapshots"
"""Snapshots are in a directory beside the suite, which is called like the suite's file with this ending."""


def file_name(case: str, round_number: int, rounds: int) -> str:
    """The file of a round: the name of its case in letters and digits, as far as a file may be called so."""
    name = re.sub(r"[\W_]+", "-", case.lower()).strip("-")[:_LONGEST] or "case"
    return f"{name}.{round_number}.yaml" if rounds > 1 else f"{name}.yaml"


def text_of(documents: Sequence[Object]) -> str:
    """What a snapshot file holds."""
    return dump_all(documents)


def compare(stored: Sequence[Document], documents: Sequence[Object]) -> list[tuple[Mismatch, str]]:
    """Every field that differs from the snapshot, with its place in it."""
    expected = dict(zip(_keys([document.value for document in stored]), stored, strict=True))
    actual = dict(zip(_keys(documents), documents, strict=True))
    differing = []
    for key in {**expected, **actual}:
        document = expected.get(key)
        if document is None:
            place = f"{stored[0].source}:1" if stored else ""
            differing.append((Mismatch(key, "", MISSING, "there", ()), place))
        else:
            differing += _compare(key, document, actual.get(key))
    return differing


def _compare(key: str, document: Document, actual: Object | None) -> list[tuple[Mismatch, str]]:
    if actual is None:
        return [(Mismatch(key, "", "there", MISSING, ()), f"{document.source}:{document.line}")]
    pairs = []
    for difference in mismatches(document.value, actual, EXACT):
        line = document.locate(written_path(document.value, difference.path)) or document.line
        mismatch = Mismatch(key, difference.field, difference.before, difference.after, ())
        pairs.append((mismatch, f"{document.source}:{line}"))
    return pairs


def _keys(documents: Sequence[Any]) -> list[str]:
    """What each document is called; results, which have no name, by their number."""
    keys: list[str] = []
    for document in documents:
        key = _key(document if isinstance(document, dict) else {})
        while key in keys:
            word, _, number = key.partition(" #")
            key = f"{word} #{int(number or 1) + 1}"
        keys.append(key)
    return keys


def _key(document: Object) -> str:
    name = resource_name(document)
    if name:
        return f"resource {name}"
    kind = text_in(document, "kind")
    return f"{kind} {name_of(document)}" if name_of(document) else kind.lower()
