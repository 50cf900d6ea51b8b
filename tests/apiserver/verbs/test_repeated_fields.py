"""Repeated fields of a body and the messages about them."""

from __future__ import annotations

import json

import pytest

from crossply.apiserver.endpoints.duplicate_fields import (
    LONGEST_PATH,
    MOST_REPORTED,
    by_place,
    is_free_of_repeats,
    repeated_in_json,
    repeated_in_yaml,
    yaml_lines,
)
from tests.support.memory_limit import run_within


@pytest.mark.parametrize(
    ("body", "repeated"),
    [
        ('{"a": 1, "b": 2}', []),
        ('{"a": 1, "a": 2}', ["a"]),
        ('{"a": 1, "a": 2, "a": 3}', ["a"]),  # reported once
        ('{"a": {"b": 1}, "c": {"b": 1}}', []),  # the same name in different objects
        ('{"a": [{"b": 1}, {"b": 1, "b": 2}]}', ["a[1].b"]),
        ('{"a": {"b": 1}, "a": {"b": 2}}', ["a"]),  # what is in them is not repeated
        ('{"a": "x\\":1,\\"a"}', []),  # a text that looks like keys
    ],
)
def test_repeated_fields_of_json_are_detected(body: str, repeated: list[str]) -> None:
    assert repeated_in_json(body.encode(), json.loads(body)) == repeated


def test_most_bodies_need_no_second_look() -> None:
    assert is_free_of_repeats(b'{"a": {"b": 1}}', {"a": {"b": 1}})
    assert not is_free_of_repeats(b'{"a": 1, "a": 2}', {"a": 2})
    assert not is_free_of_repeats(b"a: 1\na: 2\n", {"a": 2})  # keys of YAML cannot be counted so


def test_repeated_keys_of_yaml_are_reported_with_their_lines() -> None:
    message = repeated_in_yaml(b"a: 1\nb: 2\na: 3\nb: 4\n")
    assert message.startswith("yaml: unmarshal errors:\n")
    assert yaml_lines(message) == [
        'line 3: key "a" already set in map',
        'line 4: key "b" already set in map',
    ]
    assert yaml_lines(repeated_in_yaml(b"a: 1\nb: 2\n")) == []


def test_errors_come_in_the_order_of_the_body() -> None:
    body = b'{"spec": {"strange": 1, "size": 1, "size": 2, "odd": 3}}'
    warnings_ = [
        'duplicate field "spec.size"',
        'unknown field "spec.odd"',
        'unknown field "spec.strange"',
    ]
    assert by_place(body, warnings_) == [
        'unknown field "spec.strange"',
        'duplicate field "spec.size"',
        'unknown field "spec.odd"',
    ]


def test_a_long_key_with_many_members_takes_little_memory() -> None:
    program = """
        import json, tracemalloc
        from crossply.apiserver.endpoints.duplicate_fields import by_place, repeated_in_json

        members = ",".join(f'"m{n}":1' for n in range(40_000))
        body = ('{"text":"\\\\":","' + "k" * 1_000_000 + '":{' + members + "}}").encode()
        value = json.loads(body)
        tracemalloc.start()
        assert repeated_in_json(body, value) == []
        by_place(body, ['unknown field "m1"', 'duplicate field "m2"'])
        print(tracemalloc.get_traced_memory()[1] >> 20)
    """
    assert int(run_within(2 << 30, program)) < 100


def test_many_repeated_fields_are_reported_up_to_a_limit() -> None:
    members = ",".join(f'"m{n}":1,"m{n}":2' for n in range(500))
    body = ('{"' + "k" * 5000 + '":{' + members + "}}").encode()
    repeated = repeated_in_json(body, json.loads(body))
    assert len(repeated) == MOST_REPORTED
    assert max(map(len, repeated)) == LONGEST_PATH + 1
