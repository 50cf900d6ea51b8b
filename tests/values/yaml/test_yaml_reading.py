"""Documents: structure, anchors, errors and where they are."""

from __future__ import annotations

import pytest

from crossply.values.yaml import (
    SeparatorError,
    YamlError,
    is_blank,
    load,
    read_documents,
    read_first,
    read_stream,
)


def test_a_stream_is_split_at_separator_lines() -> None:
    documents = read_stream("a: 1\n--- # next\nb: 2\n---\nc: 3", "x.yaml")
    assert [(d.value, d.line, d.source) for d in documents] == [
        ({"a": 1}, 1, "x.yaml"),
        ({"b": 2}, 3, "x.yaml"),
        ({"c": 3}, 5, "x.yaml"),
    ]


STREAMS = [
    ("", [], "an empty file has no documents"),
    ("---\na: 1\n", [{"a": 1}], "a separator at the start opens the first document"),
    ("# only a comment\n---\na: 1\n", [None, {"a": 1}], "a document of comments has no value"),
    ("---\n---\na: 1\n", [None, {"a": 1}], "Kubernetes' reader sees an empty document here"),
    ("a: 1\n---\n", [{"a": 1}], "a separator at the end opens nothing"),
    ("a: 1\r\n---\r\nb: 2\r\n", [{"a": 1}, {"b": 2}], "line ends of Windows"),
    ("a: |\n  x\n  ---\nb: 1\n", [{"a": "x\n---\n", "b": 1}], "an indented line is no separator"),
    ("\ufeff[é:]\n", [["é:"]], "a byte order mark does not move the colons"),
    ("\ufeffa: 1\n", [{"a": 1}], "a byte order mark is skipped"),
    ("a: 1\n...\nb: 2\n", [{"a": 1}], "what follows an end mark is not read"),
]


@pytest.mark.parametrize(("text", "values", "reason"), STREAMS, ids=[row[2] for row in STREAMS])
def test_streams_are_split_as_kubernetes_does(text: str, values: list[object], reason: str) -> None:
    assert [document.value for document in read_stream(text)] == values, reason
    assert [document.value for document in read_stream(text.encode())] == values, reason


def test_text_after_a_separator_is_refused() -> None:
    with pytest.raises(SeparatorError) as caught:
        read_stream("a: 1\n--- b: 2\n", "x.yaml")
    assert (str(caught.value), caught.value.place) == (
        "invalid Yaml document separator: b: 2",
        "x.yaml:2",
    )


VALUES = [
    ("a: &x {b: 1}\nc: *x", {"a": {"b": 1}, "c": {"b": 1}}, "an alias is a copy"),
    ("a: &x {b: 1, c: 2}\nd: {<<: *x, c: 3}", {"a": {"b": 1, "c": 2}, "d": {"b": 1, "c": 3}}, "merge"),
    ("a: &x {b: 1}\nd: {b: 3, <<: *x}", {"a": {"b": 1}, "d": {"b": 1}}, "a later merge overwrites"),
    ("<<: [{a: 1}, {a: 2, b: 2}]", {"a": 1, "b": 2}, "the first of several merged maps wins"),
    ("'<<': {a: 1}", {"<<": {"a": 1}}, "a quoted key does not merge"),
    ("a: 1\na: 2", {"a": 2}, "the last of two equal keys wins"),
    ("? a\n: 1", {"a": 1}, "a long key"),
    ("[fe80::, {a:}]", ["fe80::", {"a:": None}], "colons before brackets belong to the scalar"),
    ("['\uf8fb', x\uf8fb]", ["\uf8fb", "x\uf8fb"], "any character may stand in a text"),
    ('{"a":[1]}', {"a": [1]}, "JSON is YAML"),
    ("a: >\n  x\n  y\n\nb: |+\n  z\n\n", {"a": "x y\n", "b": "z\n\n"}, "blocks"),
    ("a: b?\nc: n?", {"a": "b?", "c": "n?"}, "a question mark outside of brackets"),
]


@pytest.mark.parametrize(("text", "value", "reason"), VALUES, ids=[row[2] for row in VALUES])
def test_a_document_has_the_same_value_as_in_kubernetes(text: str, value: object, reason: str) -> None:
    assert load(text) == value, reason


ERRORS = [
    # text, message, line of the place
    ("a: [\n", "yaml: line 1: did not find expected node content", 2),
    ("a: b: c", "yaml: mapping values are not allowed in this context", 1),
    ("x: 1\na: b: c", "yaml: line 2: mapping values are not allowed in this context", 2),
    ("a:\n\tb: 1", "yaml: line 2: found character that cannot start any token", 2),
    ("a: 'x", "yaml: found unexpected end of stream", 1),
    ("a: 1\nb\nc: 2", "yaml: line 3: could not find expected ':'", 3),
    ("a: *x", "yaml: unknown anchor 'x' referenced", 1),
    ("a: &x [*x]", "yaml: anchor 'x' value contains itself", 1),
    ("b: 1\n<<: 1", "yaml: map merge requires map or sequence of maps as the value", 2),
    ("a: [b?c]", "yaml: did not find expected ',' or ']'", 1),
    ("a:\n- {b: n?}", "yaml: line 1: did not find expected ',' or '}'", 2),
    ("a:\r- [b\r  c?]", "yaml: line 2: did not find expected ',' or ']'", 3),
    ("\ufeff[\u2028?, é?", "yaml: line 1: did not find expected ',' or ']'", 2),
    ("a: [x: b?c", "yaml: did not find expected ',' or ']'", 1),
    ("a: \0", "yaml: control characters are not allowed", 1),
    ("a: !!int x\nb: [", "yaml: line 2: did not find expected node content", 3),
]


@pytest.mark.parametrize(("text", "message", "line"), ERRORS, ids=[row[0] for row in ERRORS])
def test_an_error_has_the_words_of_go_and_its_own_place(text: str, message: str, line: int) -> None:
    with pytest.raises(YamlError) as caught:
        load(text, "x.yaml")
    assert (str(caught.value), caught.value.place) == (message, f"x.yaml:{line}")


def test_an_error_counts_lines_from_its_document_and_is_placed_in_the_file() -> None:
    with pytest.raises(YamlError) as caught:
        read_stream("a: 1\n---\nb:\n  - x: *y\n", "x.yaml")
    assert (str(caught.value), caught.value.place) == (
        "yaml: unknown anchor 'y' referenced",
        "x.yaml:4",
    )


BYTES = [
    (b"a: \xff", "yaml: invalid leading UTF-8 octet"),
    (b"a: \xe2\x82", "yaml: incomplete UTF-8 octet sequence"),
    (b"a: \xe2\x28\xa1", "yaml: invalid trailing UTF-8 octet"),
    (b"a: \xed\xa0\x80", "yaml: invalid Unicode character"),
]


@pytest.mark.parametrize(("data", "message"), BYTES)
def test_bytes_that_are_no_text_are_refused(data: bytes, message: str) -> None:
    with pytest.raises(YamlError, match=message):
        load(data)
    with pytest.raises(YamlError):
        load("a: \ud800")


def test_strict_reading_lists_every_repeated_key() -> None:
    with pytest.raises(YamlError) as caught:
        load("a: 1\nb: {c: 1, c: 2}\n1: x\n1: y\n'1': z\na: 3\n", "x.yaml", strict=True)
    assert str(caught.value) == (
        "yaml: unmarshal errors:\n"
        '  line 2: key "c" already set in map\n'
        "  line 4: key 1 already set in map\n"
        '  line 6: key "a" already set in map'
    )
    assert caught.value.place == "x.yaml:2"


def test_strict_reading_takes_a_document_without_repeated_keys() -> None:
    assert read_stream("a: [1, {b: yes}]\n", strict=True)[0].value == {"a": [1, {"b": True}]}


def test_fields_are_located_by_their_path() -> None:
    text = (
        "# intro\na: 1\n---\nspec:\n  base: &base\n    x: 1\n  list:\n  - n: 1\n  - *base\n  n: 1\n  n: 2\n"
    )
    document = read_stream(text, "x.yaml")[1]
    assert document.line == 4
    lines = {
        (): 4,
        ("spec",): 4,
        ("spec", "list", 0, "n"): 8,
        ("spec", "list", 1): 9,
        ("spec", "list", 1, "x"): 6,
        ("spec", "n"): 11,
        ("spec", "list", 2): None,
        ("spec", "list", "n"): None,
        ("spec", "n", "deeper"): None,
        ("missing",): None,
    }
    assert {path: document.locate(path) for path in lines} == lines


def test_an_empty_document_has_no_fields() -> None:
    assert read_stream("# nothing\n")[0].locate(("a",)) is None
    assert read_stream("# \0\n")[0].locate(("a",)) is None


@pytest.mark.parametrize(
    ("text", "line", "source", "reason"),
    [
        (
            "# c\n---\na: 1\n",
            1,
            "# c\n---\na: 1\n",
            "comments above the first separator belong to the document",
        ),
        ("---\n# c\n---\na: 1\n", 2, "# c\n---\na: 1\n", "also after a blank document"),
        ("---\n---\n--- # x\na: 1\n", 3, "--- # x\na: 1\n", "separators make blank documents"),
        ("# c\n...\na: 1\n", 3, "a: 1\n", "an end marks one, too"),
        (
            "\ufeff---\r\n# c\r\n--- {a: 1}\r\n",
            2,
            "# c\r\n--- {a: 1}\r\n",
            "a byte order mark and other line ends",
        ),
        ("a: 1\n---\n: bad: :\n", 1, "a: 1\n---\n: bad: :\n", "what follows is not read"),
    ],
)
def test_the_first_document_is_the_first_that_is_not_blank(
    text: str, line: int, source: str, reason: str
) -> None:
    document = read_first(text, "f")
    assert document == ({"a": 1}, "f", line, source.encode()), reason


@pytest.mark.parametrize("text", ["", "\ufeff", "# c", "---\n...\n---\n", "--- # c\n  # d\r\n...\r\n", " \n"])
def test_a_text_of_comments_only_has_no_documents(text: str) -> None:
    assert is_blank(text.encode())
    assert read_documents(text) == []
    assert read_first(text).value is None


@pytest.mark.parametrize("above", ["# c\n", "---\n", "---\r\n", "\n", "b: 1\n---\n", "b: 1\n\ufeff---\n"])
def test_nothing_is_lost_behind_a_byte_order_mark_where_files_were_joined(above: str) -> None:
    text = f"{above}\ufeffa: 1\nc: 2\n"
    assert read_documents(text)[-1].value == {"a": 1, "c": 2}
    assert len(read_documents(text)) == (2 if "b" in above else 1)
    if "b" not in above:
        assert load(text) == read_first(text).value == {"a": 1, "c": 2}


def test_an_error_is_reported_with_the_line_of_the_file_also_behind_blank_documents() -> None:
    with pytest.raises(YamlError) as problem:
        read_first("---\n# c\n---\na: b: c\n", "f")
    assert problem.value.place == "f:4"
