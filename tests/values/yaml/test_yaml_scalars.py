"""What unquoted scalars, keys and tags mean."""

from __future__ import annotations

import pytest

from crossply.values.yaml import YamlError, load

SCALARS = [
    # text, value, reason
    ("", None, "nothing is null"),
    ("~", None, "a tilde is null"),
    ("Null", None, "null may be capitalised"),
    ("nULL", "nULL", "but not in any odd way"),
    ("yes", True, "YAML 1.1 booleans"),
    ("On", True, "YAML 1.1 booleans"),
    ("y", True, "go-yaml takes the single letter"),
    ("N", False, "go-yaml takes the single letter"),
    ("off", False, "YAML 1.1 booleans"),
    ("tRUE", "tRUE", "mixed case is a string"),
    ("'yes'", "yes", "quotes keep a string"),
    ("12", 12, "a decimal number"),
    ("+12", 12, "a sign is allowed"),
    ("012", 10, "a leading zero means octal"),
    ("08", 8, "not octal, so it is read as a float and JSON makes it an integer"),
    ("0o14", 12, "the other octal form"),
    ("-0x1F", -31, "hexadecimal with a sign"),
    ("0b101", 5, "binary"),
    ("0b-1", -1, "Go cuts the prefix off before it looks at the sign"),
    ("0o8", "0o8", "not an octal digit"),
    ("1_000", 1000, "underscores are ignored"),
    ("9223372036854775807", 2**63 - 1, "the largest int64"),
    ("9223372036854775808", 2.0**63, "beyond int64 JSON numbers become floats"),
    ("123456789012345678901234567890", 123456789012345678901234567890.0, "beyond uint64 too"),
    ("1.5", 1.5, "a float"),
    (".5", 0.5, "without the leading zero"),
    (".1_5", 0.15, "an underscore between digits"),
    ("._15", "._15", "but nowhere else"),
    ("5.0", 5, "JSON writes it as an integer"),
    ("1e3", 1000, "JSON writes it as an integer"),
    ("1e21", 1e21, "from here on JSON writes an exponent"),
    ("1e400", "1e400", "out of range, so it stays a string"),
    ("2024-01-01", "2024-01-01", "dates stay strings"),
    ("1:30", "1:30", "no base 60 numbers"),
    ("1.2.3", "1.2.3", "a version is a string"),
    ("١٢", "١٢", "digits of other scripts are letters here"),
    ("!!str 5", "5", "a tag wins"),
    ("!!float 5", 5, "a float that JSON writes as an integer"),
    ("!!bool yes", True, "a tag that fits"),
    ("!!binary aGk=", "hi", "decoded"),
    ("!!binary /w==", "\ufffd", "what is not UTF-8 is replaced"),
    ("!mine 5", "5", "an unknown tag makes a string"),
    ("!!python/object/apply:os.system [ls]", ["ls"], "tags of lists mean nothing"),
    ("! 5", "5", "the empty tag makes a string"),
    ("!!str", "", "a tag with nothing after it"),
]


@pytest.mark.parametrize(("text", "value", "reason"), SCALARS, ids=[row[0] for row in SCALARS])
def test_a_scalar_has_the_same_value_as_in_kubernetes(text: str, value: object, reason: str) -> None:
    loaded = load(f"a: {text}\n")["a"]
    assert (loaded, type(loaded)) == (value, type(value)), reason


KEYS = [
    ("yes", "true", "booleans"),
    ("Off", "false", "booleans"),
    ("12", "12", "integers"),
    ("0x10", "16", "integers in any base"),
    ("1.5", "1.5", "floats"),
    ("1e10", "1e+10", "floats as Go prints them"),
    ("0.1234567891", "0.12345679", "with the digits of a float32"),
    (".inf", ".inf", "infinity"),
    ("1e300", ".inf", "too large for a float32"),
    ("'~'", "~", "quoted keys are strings"),
]


@pytest.mark.parametrize(("text", "key", "reason"), KEYS, ids=[row[0] for row in KEYS])
def test_a_key_that_is_no_string_becomes_one(text: str, key: str, reason: str) -> None:
    assert load(f"{text}: 1\n") == {key: 1}, reason


REFUSED = [
    ("a: .nan", "json: unsupported value: NaN"),
    ("a: -.inf", "json: unsupported value: -Inf"),
    ("~: 1", "unsupported map key of type: %!s(<nil>), key: <nil>, value: 1"),
    (
        "18446744073709551615: x",
        'unsupported map key of type: uint64, key: 0xffffffffffffffff, value: "x"',
    ),
    ("a: !!int x", "yaml: cannot decode !!str `x` as a !!int"),
    ("a: !!int 1.5", "yaml: cannot decode !!float `1.5` as a !!int"),
    ("a: !!null x", "yaml: cannot decode !!str `x` as a !!null"),
    ("a: !!timestamp x", "yaml: cannot decode !!str `x` as a !!timestamp"),
    ("a: !!binary '*'", "yaml: !!binary value contains invalid base64 data"),
    ("a: {{ x }}", 'yaml: invalid map key: map[interface {}]interface {}{"x":interface {}(nil)}'),
    ('? [1, 1.5, yes, "\\n"]\n: 1', 'yaml: invalid map key: []interface {}{1, 1.5, true, "\\n"}'),
]


@pytest.mark.parametrize(("text", "message"), REFUSED, ids=[row[0] for row in REFUSED])
def test_values_that_json_lacks_are_refused_in_the_words_of_go(text: str, message: str) -> None:
    with pytest.raises(YamlError) as caught:
        load(text)
    assert str(caught.value) == message


def test_a_timestamp_with_its_tag_stays_a_string() -> None:
    assert load("!!timestamp 2024-02-29T10:11:12Z") == "2024-02-29T10:11:12Z"
