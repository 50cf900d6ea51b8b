"""Sprig's map functions. The answers are those of the Go library."""

from __future__ import annotations

import pytest

from tests.support.functions.sprig import error_of, rendered

ANSWERS = [
    ('{{ dict "a" 1 "b" }}', "map[a:1 b:]", "keys are printed, a missing value is empty"),
    ("{{ dict 1 2 }}", "map[1:2]", "keys are printed, a missing value is empty"),
    ("{{ dict }}", "map[]", "keys are printed, a missing value is empty"),
    (
        (
            '{{ $d := dict "a" nil }}{{ get $d "a" }}|{{ get $d "b" }}|{{ get nil "x" }}|{{ hasKey '
            '$d "a" }}{{ hasKey nil "a" }}'
        ),
        "<no value>|||truefalse",
        "a missing key gives an empty text",
    ),
    (
        '{{ $d := dict "a" 1 }}{{ $_ := set $d "b" 2 }}{{ $d }} {{ unset $d "a" }} {{ $d }}',
        "map[a:1 b:2] map[b:2] map[b:2]",
        "changes the map itself",
    ),
    (
        '{{ pluck "a" (dict "a" 1) (dict "b" 2) (dict "a" nil) }}',
        "[1 <nil>]",
        "maps without the key are passed over",
    ),
    ('{{ keys (dict "b" 1 "a" 2) (dict "c" 3) | sortAlpha }}', "[a b c]", "of all maps"),
    ('{{ values (dict "a" 1) }}', "[1]", "of all maps"),
    ("{{ keys | toJson }}", "[]", "of all maps"),
    ('{{ pick (dict "a" 1 "b" 2) "a" "z" }}', "map[a:1]", "new maps"),
    ('{{ omit (dict "a" 1 "b" 2) "a" "z" }}', "map[b:2]", "new maps"),
    ('{{ dig "a" "b" 0 (dict "a" (dict "b" 1)) }}', "1", "a default for what is missing"),
    ('{{ dig "a" "x" "none" (dict "a" (dict "b" 1)) }}', "none", "a default for what is missing"),
    ('{{ dig "x" "y" "none" (dict) }}', "none", "a default for what is missing"),
    (
        (
            '{{ merge (dict "a" 1 "b" "" "c" (dict "x" 1)) (dict "a" 2 "b" "set" "c" (dict "x" 2 '
            '"y" 3) "d" (list)) }}'
        ),
        "map[a:1 b:set c:map[x:1 y:3] d:[]]",
        "what is there wins, unless it is empty",
    ),
    (
        ('{{ mergeOverwrite (dict "a" 1 "c" (dict "x" 1)) (dict "a" nil "c" (dict "y" 3)) (dict "e" "") }}'),
        "map[a:<nil> c:map[x:1 y:3] e:]",
        "the addition wins, empty or not",
    ),
    ('{{ merge (dict) (dict "a" nil) (dict "b" false) }}', "map[b:false]", "nil adds nothing"),
    ('{{ merge (dict "a" nil) (dict "a" 5) }}', "map[a:5]", "nil adds nothing"),
    ('{{ merge (dict "l" (list 1)) (dict "l" (list 2 3)) }}', "map[l:[1]]", "lists are not joined"),
    ('{{ mergeOverwrite (dict "l" (list 1)) (dict "l" (list)) }}', "map[l:[]]", "lists are not joined"),
    ('{{ merge (dict "a" (dict)) (dict "a" 1) }}', "map[a:1]", "lists are not joined"),
    (
        (
            '{{ $d := dict "a" (dict "b" 1) }}{{ $c := deepCopy $d }}{{ $_ := set $c.a "b" 2 }}{{ '
            "$d }} {{ $c }} {{ typeOf (deepCopy (until 2)) }}"
        ),
        "map[a:map[b:1]] map[a:map[b:2]] []int",
        "a copy shares nothing",
    ),
    ('{{ deepEqual (list 1 "a") (list 1 "a") }}', "true", "types count, NaN equals nothing"),
    ("{{ deepEqual 1 1.0 }}", "false", "types count, NaN equals nothing"),
    ('{{ deepEqual (dict "a" (list)) (dict "a" (list)) }}', "true", "types count, NaN equals nothing"),
    ("{{ deepEqual nil nil }}", "true", "types count, NaN equals nothing"),
    (
        '{{ deepEqual (list (float64 "nan")) (list (float64 "nan")) }}',
        "false",
        "types count, NaN equals nothing",
    ),
]
ERRORS = [
    ('{{ set nil "a" 1 }}', "assignment to entry in nil map", "a nil map cannot be written"),
    ('{{ dig "a" 1 }}', "dig needs at least three arguments", "too few"),
    (
        '{{ dig "a" 0 "x" }}',
        "interface conversion: interface {} is string, not map[string]interface {}",
        "no map",
    ),
    ("{{ dig 1 0 (dict) }}", "interface conversion: interface {} is int, not string", "no key"),
    (
        '{{ dig "a" "b" 0 (dict "a" nil) }}',
        "interface conversion: interface {} is nil, not map[string]interface {}",
        "nil on the way",
    ),
    (
        '{{ dig "a" "b" 0 (dict "a" 1.5) }}',
        "interface conversion: interface {} is float64, not map[string]interface {}",
        "a number on the way",
    ),
    ("{{ deepCopy nil }}", "reflect: call of reflect.Value.Type on zero Value", "nil has no copy"),
]


@pytest.mark.parametrize(("template", "text", "reason"), ANSWERS)
def test_a_template_equals_the_output_of_go(template: str, text: str, reason: str) -> None:
    assert rendered(template) == text, reason


@pytest.mark.parametrize(("template", "message", "reason"), ERRORS)
def test_a_call_fails_in_the_words_of_go(template: str, message: str, reason: str) -> None:
    assert error_of(template) == message, reason
