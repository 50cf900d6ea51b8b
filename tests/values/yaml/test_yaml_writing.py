"""What `dump` writes: quotes, blocks, folds, numbers and the order of keys."""

from __future__ import annotations

import pytest

from crossply.values.yaml import YamlError, dump, dump_all, load

STRINGS = [
    ("word", "word", "a plain word"),
    ("", '""', "the empty string would be null"),
    ("yes", '"yes"', "would be a boolean"),
    ("null", '"null"', "would be null"),
    ("3", '"3"', "would be a number"),
    ("0x1F", '"0x1F"', "would be a number"),
    ("1e3", '"1e3"', "would be a number"),
    ("1e400", "1e400", "is out of range, so it is no number"),
    ("1:30", '"1:30"', "was a number in YAML 1.1"),
    ("1:60", "1:60", "never was a number"),
    ("2024-01-01T00:00:00Z", '"2024-01-01T00:00:00Z"', "a timestamp"),
    ("2024-02-29", '"2024-02-29"', "a date"),
    ("2023-02-29", "2023-02-29", "a date that does not exist"),
    ("2024-1-1 1:2:3.5", '"2024-1-1 1:2:3.5"', "a timestamp without a zone"),
    ("2024-01-01T25:00:00Z", "2024-01-01T25:00:00Z", "there is no such hour"),
    ("a: b", "'a: b'", "an indicator inside"),
    ("a:", "'a:'", "an indicator at the end"),
    ("a:b", "a:b", "no indicator without a space"),
    ("a #b", "'a #b'", "a comment"),
    ("#b", "'#b'", "a comment"),
    ("- a", "'- a'", "an item"),
    ("-a", "-a", "no item"),
    ("?", "'?'", "a key"),
    ("---a", "'---a'", "a separator"),
    ("{a", "'{a'", "a bracket"),
    ("a{", "a{", "a bracket inside"),
    (" a", "' a'", "a space at the start"),
    ("it's", "it's", "a quote inside needs no quotes"),
    ("'x'", "'''x'''", "a quote at the start is doubled"),
    ("a\tb", '"a\\tb"', "a tab is escaped"),
    ("a\x01", '"a\\x01"', "control characters are escaped"),
    ("é 日本", "é 日本", "letters are printable"),
    ("😀", '"\\U0001F600"', "Go's emitter escapes what lies beyond the basic plane"),
    ("a\u2028b", '"a\\Lb"', "a line separator is escaped"),
    ("a\xa0b\x85", '"a\xa0b\\N"', "a hard space is printable, the next-line character is not"),
    ("\ufeffx", '"\\uFEFF\\x78"', "after a byte order mark Go escapes everything"),
    ("x\ud800", '"x\ufffd"', "half a surrogate pair is replaced"),
    ("<<", '"<<"', "would be a merge"),
]


@pytest.mark.parametrize(("text", "written", "reason"), STRINGS, ids=[repr(row[0]) for row in STRINGS])
def test_a_string_is_quoted_as_go_does(text: str, written: str, reason: str) -> None:
    assert dump({"a": text}) == f"a: {written}\n", reason
    assert dump([text]) == f"- {written}\n", reason
    assert dump({text: 1}) in (f"{written}: 1\n", f"? {written}\n: 1\n"), reason


BLOCKS = [
    ("x\n", "a: |\n  x\n", "clipped"),
    ("x\ny", "a: |-\n  x\n  y\n", "stripped"),
    ("x\n\n", "a: |+\n  x\n\n", "kept"),
    ("\n", "a: |2+\n\n", "only a break"),
    (" x\ny\n", "a: |2\n   x\n  y\n", "a space at the start needs a hint"),
    ("x\n\n y\n", "a: |\n  x\n\n   y\n", "empty lines stay empty"),
    ("x \ny", 'a: "x \\ny"\n', "a space before a break cannot be shown"),
    ("x\ny ", 'a: "x\\ny "\n', "a space at the end cannot be shown"),
    ("x\r\ny", 'a: "x\\r\\ny"\n', "a carriage return cannot be shown"),
]


@pytest.mark.parametrize(("text", "written", "reason"), BLOCKS, ids=[row[2] for row in BLOCKS])
def test_lines_are_written_as_a_block(text: str, written: str, reason: str) -> None:
    assert dump({"a": text}) == written, reason
    assert load(written) == {"a": text}


NUMBERS = [
    (5, "5"),
    (-0.0, "0"),
    (5.0, "5"),
    (1.5, "1.5"),
    (1234567.5, "1.2345675e+06"),
    (0.0001, "0.0001"),
    (0.00001, "1e-05"),
    (1e20, "1e+20"),
    (1e19, "10000000000000000000"),
    (2.0**63, "9223372036854776000"),
    (1e21, "1e+21"),
    (2**64 - 1, "18446744073709551615"),
    (2**64, "1.8446744073709552e+19"),
    (True, "true"),
    (False, "false"),
    (None, "null"),
    ({}, "{}"),
    ([], "[]"),
]


@pytest.mark.parametrize(("value", "written"), NUMBERS, ids=[row[1] for row in NUMBERS])
def test_other_values_are_written_as_go_does(value: object, written: str) -> None:
    assert dump(value) == f"{written}\n"
    assert dump({"a": [value]}) == f"a:\n- {written}\n"


def test_maps_and_lists_are_laid_out_as_go_does() -> None:
    value = {"b": [{"d": 1, "c": [[1, []], {}]}, "x"], "a": {"z": {"y": None}}}
    assert dump(value) == (
        "a:\n  z:\n    \"y\": null\nb:\n- c:\n  - - 1\n    - []\n  - {}\n  d: 1\n- x\n"
    )  # fmt: skip


def test_keys_are_in_natural_order() -> None:
    keys = ["a10", "a9", "a_b", "aB", "a.b", "A", "10", "9", "a", "_", "ab", "a1b", "a01", "é"]
    written = [line.split(":")[0].strip('"') for line in dump(dict.fromkeys(keys, 1)).splitlines()]
    assert written == ["_", "9", "10", "A", "a", "a.b", "a_b", "a1b", "a01", "a9", "a10", "aB", "ab", "é"]


def test_long_lines_are_folded_behind_the_80th_column() -> None:
    words = " ".join(["word"] * 20)
    assert dump({"a": words}) == f"a: {' '.join(['word'] * 16)}\n  {' '.join(['word'] * 4)}\n"
    assert dump([words + ":"]) == f"- '{' '.join(['word'] * 16)}\n  {' '.join(['word'] * 4)}:'\n"
    assert dump({"a": "x" * 200}) == f"a: {'x' * 200}\n"
    spaced = "w" * 80 + "  w " + "\t"
    assert dump({"a": spaced}) == f'a: "{"w" * 80}\n  \\ w \\t"\n'


def test_a_key_that_is_too_long_for_its_line_follows_a_question_mark() -> None:
    key = "k" * 129
    assert dump({key: {"a": [1]}}) == f"? {key}\n: a:\n  - 1\n"
    assert dump({"k" * 128: 1}) == f"{'k' * 128}: 1\n"
    assert dump({"é" * 65: [1]}) == f"? {'é' * 65}\n: - 1\n"
    assert dump({"a\nb\n": 1}) == "? |\n  a\n  b\n: 1\n"


def test_documents_come_after_separators() -> None:
    assert dump_all([{"a": 1}, [2]]) == "---\na: 1\n---\n- 2\n"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (float("nan"), "error marshaling into JSON: json: unsupported value: NaN"),
        (float("-inf"), "error marshaling into JSON: json: unsupported value: -Inf"),
        (object(), "error marshaling into JSON: json: unsupported type: object"),
    ],
)
def test_values_that_json_lacks_are_not_written(value: object, message: str) -> None:
    with pytest.raises(YamlError, match=message):
        dump({"a": value})
