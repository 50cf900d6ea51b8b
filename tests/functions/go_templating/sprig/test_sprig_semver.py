"""Sprig's semantic versions. The answers are those of the Go library."""

from __future__ import annotations

import pytest

from tests.support.functions.sprig import error_of, rendered

ANSWERS = [
    ('{{ semver "v1.2.3-beta.1+b7" }}', "1.2.3-beta.1+b7", "lenient"),
    ('{{ semver "1" }}', "1.0.0", "lenient"),
    ('{{ (semver "1.2.3").Minor }}', "2", "lenient"),
    ('{{ (semver "v1.2").Original }}', "v1.2", "lenient"),
    (
        (
            '{{ $v := semver "v1.2.3-rc.1+b" }}{{ $v.Major }} {{ $v.Patch }} {{ $v.Prerelease }} '
            "{{ $v.Metadata }} {{ $v.IncMinor }} {{ $v.IncPatch }} {{ $v.IncMajor.Minor }}"
        ),
        "1 3 rc.1 b 1.3.0 1.2.3 0",
        "methods",
    ),
    (
        (
            '{{ $v := semver "1.2.3" }}{{ $v.Compare (semver "1.10.0") }} {{ $v.LessThan (semver '
            '"2") }} {{ $v.Equal (semver "1.2.3+x") }} {{ $v.GreaterThan (semver "1.2.3-a") }}'
        ),
        "-1 true true true",
        "comparing",
    ),
    ('{{ semverCompare ">=1.2, <2" "1.9.9" }}', "true", "and, or"),
    ('{{ semverCompare ">=1.2 <1.5" "1.9.9" }}', "false", "and, or"),
    ('{{ semverCompare "1.x || >=3" "3.1.0" }}', "true", "and, or"),
    ('{{ semverCompare "~1.2.3" "1.2.9" }}', "true", "tilde"),
    ('{{ semverCompare "~1.2" "1.3.0" }}', "false", "tilde"),
    ('{{ semverCompare "~1" "1.9.0" }}', "true", "tilde"),
    ('{{ semverCompare "~0.0.0" "5.0.0" }}', "true", "tilde"),
    ('{{ semverCompare "^1.2" "1.9.0" }}', "true", "caret"),
    ('{{ semverCompare "^0.2.3" "0.3.0" }}', "false", "caret"),
    ('{{ semverCompare "^0.0.3" "0.0.4" }}', "false", "caret"),
    ('{{ semverCompare "^0" "0.9.0" }}', "true", "caret"),
    ('{{ semverCompare "^0.0" "0.0.9" }}', "true", "caret"),
    ('{{ semverCompare "1.2 - 1.4" "1.4.5" }}', "true", "a range includes its open end"),
    ('{{ semverCompare "1.2.0 - 1.4.0" "1.4.5" }}', "false", "a range includes its open end"),
    ('{{ semverCompare ">11" "11.1.0" }}', "false", "open parts"),
    ('{{ semverCompare ">11.1" "11.2.0" }}', "true", "open parts"),
    ('{{ semverCompare "<=1.2" "1.2.9" }}', "true", "open parts"),
    ('{{ semverCompare "!=1.x" "2.0.0" }}', "true", "open parts"),
    ('{{ semverCompare "!=1.2" "1.2.5" }}', "false", "open parts"),
    ('{{ semverCompare ">1.0" "1.1.0-alpha" }}', "false", "a group that mentions a pre-release takes them"),
    (
        '{{ semverCompare ">1.0.0-0" "1.1.0-alpha" }}',
        "true",
        "a group that mentions a pre-release takes them",
    ),
    (
        '{{ semverCompare ">1.0.0-0, <9" "1.1.0-alpha" }}',
        "true",
        "a group that mentions a pre-release takes them",
    ),
    ('{{ semverCompare "<1.2.3-rc.10" "1.2.3-rc.9" }}', "true", "numbers before words, fewer before more"),
    ('{{ semverCompare ">1.0.0-alpha" "1.0.0-1" }}', "false", "numbers before words, fewer before more"),
    ('{{ semverCompare ">1.0.0-a" "1.0.0-a.1" }}', "true", "numbers before words, fewer before more"),
    ('{{ semverCompare "*" "0.0.1" }}', "true", "anything"),
    ('{{ semverCompare "*" "1.0.0-a" }}', "false", "anything"),
    ('{{ semverCompare "=1.2.3" "v1.2.3+x" }}', "true", "anything"),
    ('{{ semverCompare "=> 1" "1.0.0" }}', "true", "anything"),
]
ERRORS = [
    ('{{ semver "1.2.3.4" }}', "invalid semantic version", "four parts"),
    ('{{ semver "" }}', "invalid semantic version", "nothing"),
    ('{{ semver "1.2.3-01" }}', "version segment starts with 0", "a leading zero"),
    (
        '{{ semver "99999999999999999999" }}',
        (
            'error parsing version segment: strconv.ParseUint: parsing "99999999999999999999": '
            "value out of range"
        ),
        "too large",
    ),
    ('{{ semverCompare "foo" "1.0.0" }}', "improper constraint: foo", "no constraint"),
    ('{{ semverCompare ">1, foo" "x" }}', "improper constraint: >1, foo", "the constraint is read first"),
    ('{{ semverCompare ">1" "x" }}', "invalid semantic version", "no version"),
    ('{{ semverCompare "" "1.0.0" }}', "improper constraint: ", "an empty constraint"),
]


@pytest.mark.parametrize(("template", "text", "reason"), ANSWERS)
def test_a_template_equals_the_output_of_go(template: str, text: str, reason: str) -> None:
    assert rendered(template) == text, reason


@pytest.mark.parametrize(("template", "message", "reason"), ERRORS)
def test_a_call_fails_in_the_words_of_go(template: str, message: str, reason: str) -> None:
    assert error_of(template) == message, reason
