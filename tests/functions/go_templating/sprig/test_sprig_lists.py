"""Sprig's list functions. The answers are those of the Go library."""

from __future__ import annotations

import pytest

from tests.support.functions.sprig import error_of, rendered

ANSWERS = [
    ('{{ list 1 "a" nil }}', "[1 a <nil>]", "a list of anything"),
    ("{{ tuple }}", "[]", "a list of anything"),
    ("{{ typeOf (list) }}", "[]interface {}", "a list of anything"),
    ("{{ append (list 1) nil }}", "[1 <nil>]", "the result is a plain list"),
    ('{{ push (until 2) "x" | typeOf }}', "[]interface {}", "the result is a plain list"),
    ("{{ prepend (list 1) 0 }}", "[0 1]", "the result is a plain list"),
    ("{{ mustAppend (list) 1 }}", "[1]", "the result is a plain list"),
    ("{{ first (list 1 2) }}", "1", "nothing of nothing is no value"),
    ("{{ last (list 1 2) }}", "2", "nothing of nothing is no value"),
    ("{{ first (list) }}", "<no value>", "nothing of nothing is no value"),
    ("{{ last (list) }}", "<no value>", "nothing of nothing is no value"),
    ('{{ first (splitList "," "a,b") }}', "a", "nothing of nothing is no value"),
    ("{{ rest (list 1 2 3) }}", "[2 3]", "nothing of nothing is nil"),
    ("{{ initial (list 1 2 3) }}", "[1 2]", "nothing of nothing is nil"),
    ("{{ rest (list) | toJson }}", "null", "nothing of nothing is nil"),
    ("{{ initial (list) | toJson }}", "null", "nothing of nothing is nil"),
    ("{{ reverse (list 1 2 3) }}", "[3 2 1]", "empty things go"),
    ('{{ compact (list 1 "" 0 nil false (list) "x" (dict)) }}', "[1 x]", "empty things go"),
    (
        '{{ uniq (list 1 1 1.0 "1" (list 1) (list 1) (dict "a" 1) (dict "a" 1)) }}',
        "[1 1 1 [1] map[a:1]]",
        "equal means of equal type too",
    ),
    ("{{ without (list 1 2 3 1) 1 3 }}", "[2]", "all occurrences go"),
    ('{{ without (list "a" nil) nil }}', "[a]", "all occurrences go"),
    ("{{ has 1 (list 1 2) }}", "true", "a nil list holds nothing"),
    ("{{ has 1.0 (list 1 2) }}", "false", "a nil list holds nothing"),
    ('{{ has "a" nil }}', "false", "a nil list holds nothing"),
    ("{{ has (list 1) (list (list 1)) }}", "true", "a nil list holds nothing"),
    ("{{ has nil (list nil) }}", "true", "a nil list holds nothing"),
    ("{{ slice (list 1 2 3) }}", "[1 2 3]", "keeps the type, and of an empty list nothing is left"),
    ("{{ slice (list 1 2 3) 1 }}", "[2 3]", "keeps the type, and of an empty list nothing is left"),
    ('{{ slice (list 1 2 3) "1" 2.9 }}', "[2]", "keeps the type, and of an empty list nothing is left"),
    ("{{ slice (list) 1 2 }}", "<no value>", "keeps the type, and of an empty list nothing is left"),
    ("{{ typeOf (slice (until 3) 1) }}", "[]int", "keeps the type, and of an empty list nothing is left"),
    ('{{ concat (list 1) (until 2) (splitList "," "a,b") }}', "[1 0 1 a b]", "lists of any type"),
    ("{{ concat | toJson }}", "null", "lists of any type"),
    ("{{ chunk 2 (list 1 2 3) }}", "[[1 2] [3]]", "the last may be shorter"),
    ("{{ chunk 3 (list) }}", "[]", "the last may be shorter"),
    ("{{ chunk -2 (list 1) }}", "[[1]]", "the last may be shorter"),
    ("{{ typeOf (chunk 2 (list 1)) }}", "[][]interface {}", "the last may be shorter"),
]
ERRORS = [
    ("{{ append 5 1 }}", "Cannot push on type int", "no list"),
    ('{{ prepend "x" 1 }}', "Cannot prepend on type string", "no list"),
    ("{{ first (dict) }}", "Cannot find first on type map", "no list"),
    ("{{ last 1.5 }}", "Cannot find last on type float64", "no list"),
    ("{{ rest true }}", "Cannot find rest on type bool", "no list"),
    ("{{ initial 1 }}", "Cannot find initial on type int", "no list"),
    ("{{ reverse 1 }}", "Cannot find reverse on type int", "no list"),
    ("{{ compact 1 }}", "Cannot compact on type int", "no list"),
    ("{{ uniq 1 }}", "Cannot find uniq on type int", "no list"),
    ("{{ without 1 }}", "Cannot find without on type int", "no list"),
    ("{{ has 1 2 }}", "Cannot find has on type int", "no list"),
    ('{{ slice "abc" 1 }}', "list should be type of slice or array but string", "no list"),
    ("{{ concat 1 }}", "Cannot concat type int as list", "no list"),
    ('{{ chunk 1 "x" }}', "Cannot chunk type string", "no list"),
    (
        "{{ first nil }}",
        "runtime error: invalid memory address or nil pointer dereference",
        "nil has no type",
    ),
    (
        "{{ mustRest nil }}",
        "runtime error: invalid memory address or nil pointer dereference",
        "nil has no type",
    ),
    ("{{ slice (list 1) 0 2 }}", "reflect.Value.Slice: slice index out of bounds", "beyond the end"),
    ("{{ slice (list 1 2) -1 }}", "reflect.Value.Slice: slice index out of bounds", "negative"),
    ("{{ chunk 0 (list 1) }}", "runtime error: makeslice: len out of range", "no size"),
    ("{{ chunk -2 (list 1 2 3 4) }}", "runtime error: makeslice: len out of range", "negative size"),
]


@pytest.mark.parametrize(("template", "text", "reason"), ANSWERS)
def test_a_template_equals_the_output_of_go(template: str, text: str, reason: str) -> None:
    assert rendered(template) == text, reason


@pytest.mark.parametrize(("template", "message", "reason"), ERRORS)
def test_a_call_fails_in_the_words_of_go(template: str, message: str, reason: str) -> None:
    assert error_of(template) == message, reason
