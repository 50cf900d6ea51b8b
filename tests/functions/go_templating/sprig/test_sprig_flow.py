"""Sprig's functions about emptiness, choice and types. The answers are those of the Go library."""

from __future__ import annotations

import pytest

from tests.support.functions.sprig import error_of, rendered

ANSWERS = [
    ("{{ default 1 0 }}", "1", "zero, nil and empty things"),
    ("{{ default 1 nil }}", "1", "zero, nil and empty things"),
    ('{{ default 1 "" }}', "1", "zero, nil and empty things"),
    ("{{ default 1 (list) }}", "1", "zero, nil and empty things"),
    ("{{ default 1 2 }}", "2", "zero, nil and empty things"),
    ("{{ default 1 }}", "1", "zero, nil and empty things"),
    ('{{ 0 | default "x" }}', "x", "zero, nil and empty things"),
    ("{{ empty 0.0 }}", "true", "a struct is never empty"),
    ("{{ empty (dict) }}", "true", "a struct is never empty"),
    ("{{ empty false }}", "true", "a struct is never empty"),
    ('{{ empty (semver "1") }}', "false", "a struct is never empty"),
    ('{{ empty (toDate "x" "y") }}', "false", "a struct is never empty"),
    ('{{ empty "0" }}', "false", "a struct is never empty"),
    ('{{ coalesce 0 "" nil 5 6 }}', "5", "the first that is not empty"),
    ("{{ coalesce }}", "<no value>", "the first that is not empty"),
    ('{{ all 1 "a" }}', "true", "the first that is not empty"),
    ("{{ all 1 0 }}", "false", "the first that is not empty"),
    ("{{ all }}", "true", "the first that is not empty"),
    ("{{ any 0 1 }}", "true", "the first that is not empty"),
    ("{{ any }}", "false", "the first that is not empty"),
    ('{{ ternary "y" "n" true }}', "y", "chooses"),
    ('{{ false | ternary "y" "n" }}', "n", "chooses"),
    ("{{ hello }}", "Hello!", "chooses"),
    ("{{ typeOf 1 }}", "int", "Go's names"),
    ('{{ typeOf "a" }}', "string", "Go's names"),
    ("{{ typeOf 1.5 }}", "float64", "Go's names"),
    ("{{ typeOf nil }}", "<nil>", "Go's names"),
    ("{{ typeOf (dict) }}", "map[string]interface {}", "Go's names"),
    ('{{ typeOf (split "" "") }}', "map[string]string", "Go's names"),
    ('{{ typeOf (semver "1.0") }}', "*semver.Version", "Go's names"),
    ("{{ typeOf now }}", "time.Time", "Go's names"),
    ("{{ kindOf 1 }}", "int", "Go's kinds"),
    ("{{ kindOf nil }}", "invalid", "Go's kinds"),
    ("{{ kindOf (list) }}", "slice", "Go's kinds"),
    ("{{ kindOf (dict) }}", "map", "Go's kinds"),
    ('{{ kindOf (semver "1.0") }}', "ptr", "Go's kinds"),
    ("{{ kindOf now }}", "struct", "Go's kinds"),
    ('{{ kindIs "slice" (until 1) }}', "true", "Go's kinds"),
    ('{{ typeIs "int" 1 }}', "true", "a pointer is only like its type"),
    ('{{ typeIsLike "semver.Version" (semver "1.0") }}', "true", "a pointer is only like its type"),
    ('{{ typeIs "semver.Version" (semver "1.0") }}', "false", "a pointer is only like its type"),
]
ERRORS = [
    ('{{ fail "no way" }}', "no way", "in the template's words"),
]


@pytest.mark.parametrize(("template", "text", "reason"), ANSWERS)
def test_a_template_equals_the_output_of_go(template: str, text: str, reason: str) -> None:
    assert rendered(template) == text, reason


@pytest.mark.parametrize(("template", "message", "reason"), ERRORS)
def test_a_call_fails_in_the_words_of_go(template: str, message: str, reason: str) -> None:
    assert error_of(template) == message, reason
