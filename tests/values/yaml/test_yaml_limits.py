"""Texts made to hurt: they are refused, soon, and never by running out of stack."""

from __future__ import annotations

import contextlib
import sys

import pytest

from crossply.values.yaml import LimitError, YamlError, dump, load, read_stream
from crossply.values.yaml.limits import MAX_BYTES, MAX_DEPTH, MAX_DOCUMENTS, MAX_NODES

LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join(['*' + before] * 9)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
CHAIN_OF_LISTS = "a0: &a0 [x]\n" + "".join(f"a{i + 1}: &a{i + 1} [*a{i}]\n" for i in range(MAX_DEPTH + 50))
CHAIN_OF_MERGES = "a0: &a0 {x: 1}\n" + "".join(
    f"a{i + 1}: &a{i + 1} {{<<: *a{i}}}\n" for i in range(MAX_DEPTH + 50)
)

BOMBS = [
    ("x" * (MAX_BYTES + 1), f"exceeds the limit of {MAX_BYTES} bytes"),
    ("[" * 1_000_000, f"yaml: line 1: exceeded max depth of {MAX_DEPTH}"),
    ("[\n" * 1_000_000, f"yaml: line {MAX_DEPTH + 1}: exceeded max depth"),
    ("{a: " * 1_000_000, "exceeded max depth"),
    ("- " * 1_000_000, "exceeded max depth"),
    (LAUGHS, "yaml: document contains excessive aliasing"),
    (CHAIN_OF_LISTS, "exceeded max depth"),
    (CHAIN_OF_MERGES, "exceeded max depth"),
]


@pytest.mark.parametrize(("text", "message"), BOMBS, ids=[row[0][:20] for row in BOMBS])
def test_a_bomb_is_refused(text: str, message: str) -> None:
    with pytest.raises(LimitError, match=message):
        load(text)


def test_a_document_may_be_as_deep_as_the_limit() -> None:
    deep = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    value = load(deep)
    assert load(deep, strict=True) == value
    assert load(dump(value)) == value
    with pytest.raises(LimitError):
        load(f"[{deep}]", strict=True)
    with pytest.raises(LimitError, match="exceeded max depth"):
        dump([[value]])


def test_too_many_nodes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crossply.values.yaml.stream.MAX_NODES", 10)
    assert load("[1, 2, 3, 4, 5, 6, 7, 8, 9]")
    for strict in (False, True):
        with pytest.raises(LimitError, match=f"yaml: line 2: exceeded {MAX_NODES} nodes"):
            load("[1, 2, 3, 4, 5, 6,\n 7, 8, 9, 10]", strict=strict)
    assert len(read_stream("a\n---\n" * 10)) == 10
    with pytest.raises(LimitError):
        read_stream("a\n---\n" * 11)


def test_no_recursion_error_escapes_from_a_deep_stack() -> None:
    value = load("[" * MAX_DEPTH + "]" * MAX_DEPTH)

    def descend(levels: int) -> None:
        if levels:
            descend(levels - 1)
            return
        # From Python 3.12 on, code in C does not count as depth: then reading works.
        with contextlib.suppress(LimitError):
            load("&a " + "[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1))
        with pytest.raises(LimitError):
            dump(value)

    descend(sys.getrecursionlimit() - 300)


def test_a_million_documents_are_refused_before_the_first_is_read() -> None:
    with pytest.raises(LimitError, match=f"more than {MAX_DOCUMENTS} documents"):
        read_stream("a: 1\n---\n" * 1_000_000)


def test_colons_that_must_be_hidden_one_by_one_do_not_take_forever() -> None:
    with pytest.raises(YamlError, match="found unexpected ':'"):
        load("[" + "a:," * 200_000 + "]")
