"""Sprig's regular expressions. The answers are those of the Go library."""

from __future__ import annotations

import pytest

from tests.support.functions.sprig import error_of, rendered

ANSWERS = [
    ('{{ regexMatch "^a.c$" "abc" }}', "true", "a bad pattern matches nothing"),
    ('{{ regexMatch "(" "x" }}', "false", "a bad pattern matches nothing"),
    ('{{ mustRegexMatch "b" "abc" }}', "true", "a bad pattern matches nothing"),
    ('{{ regexFind "b+" "abbc" }}', "bb", "nothing found is empty"),
    ('{{ regexFind "x" "abc" }}', "", "nothing found is empty"),
    ('{{ mustRegexFind "é" "aé" }}', "é", "nothing found is empty"),
    ('{{ regexFindAll "a*" "baac" -1 | toJson }}', '["","aa",""]', "no empty match directly after another"),
    ('{{ regexFindAll "\\\\b" "ab cd" -1 | len }}', "4", "no empty match directly after another"),
    ('{{ regexFindAll "[a-z]" "abc" 2 }}', "[a b]", "no empty match directly after another"),
    ('{{ regexFindAll "x" "abc" -1 | toJson }}', "null", "no empty match directly after another"),
    ('{{ regexReplaceAll "a(x*)b" "-ab-axxb-" "${1}W" }}', "-W-xxW-", "$1W is another name"),
    ('{{ regexReplaceAll "a(x*)b" "-axb-" "$1W" }}', "--", "$1W is another name"),
    ('{{ regexReplaceAll "(?P<n>b)" "abc" "<${n}$$>" }}', "a<b$>c", "$1W is another name"),
    ('{{ regexReplaceAll "x*" "abc" "-" }}', "-a-b-c-", "empty matches, and a dollar alone"),
    ('{{ regexReplaceAll "(a)|(b)" "ab" "[$1$2]" }}', "[a][b]", "empty matches, and a dollar alone"),
    ('{{ regexReplaceAll "a" "a" "$" }}', "$", "empty matches, and a dollar alone"),
    ('{{ mustRegexReplaceAll "a" "a" "${" }}', "${", "empty matches, and a dollar alone"),
    ('{{ regexReplaceAllLiteral "a(x*)b" "-ab-" "${1}" }}', "-${1}-", "literally"),
    ('{{ mustRegexReplaceAllLiteral "z" "a" "b" }}', "a", "literally"),
    ('{{ regexSplit "z+" "pizza" -1 | toJson }}', '["pi","a"]', "as Go splits"),
    ('{{ regexSplit "a" "banana" 2 | toJson }}', '["b","nana"]', "as Go splits"),
    ('{{ regexSplit "" "abc" -1 | toJson }}', '["a","b","c"]', "as Go splits"),
    ('{{ regexSplit "x" "" -1 | toJson }}', '[""]', "as Go splits"),
    ('{{ regexSplit "a" "a" 0 | toJson }}', "null", "as Go splits"),
    (
        '{{ regexQuoteMeta "a.b*c[d]{e}\\\\^$|+?()" }}',
        "a\\.b\\*c\\[d\\]\\{e\\}\\\\\\^\\$\\|\\+\\?\\(\\)",
        "escaped",
    ),
]
ERRORS = [
    (
        '{{ regexFind "(" "x" }}',
        "regexp: Compile(`(`): error parsing regexp: missing closing ): `(`",
        "a panic names the pattern",
    ),
    ('{{ mustRegexFind "(" "x" }}', "error parsing regexp: missing closing ): `(`", "an error does not"),
    (
        '{{ regexReplaceAll "a{2,1}" "x" "y" }}',
        "regexp: Compile(`a{2,1}`): error parsing regexp: invalid repeat count: `{2,1}`",
        "a bad repetition",
    ),
    (
        '{{ mustRegexMatch "(?=a)" "x" }}',
        "error parsing regexp: invalid or unsupported Perl syntax: `(?=`",
        "no look-ahead",
    ),
    (
        '{{ regexSplit "`[" "x" 1 }}',
        'regexp: Compile("`["): error parsing regexp: missing closing ]: `[`',
        "a backquote in the pattern",
    ),
    (
        '{{ mustRegexFindAll "\\\\8" "x" 1 }}',
        "error parsing regexp: invalid escape sequence: `\\8`",
        "no back-reference",
    ),
]


@pytest.mark.parametrize(("template", "text", "reason"), ANSWERS)
def test_a_template_equals_the_output_of_go(template: str, text: str, reason: str) -> None:
    assert rendered(template) == text, reason


@pytest.mark.parametrize(("template", "message", "reason"), ERRORS)
def test_a_call_fails_in_the_words_of_go(template: str, message: str, reason: str) -> None:
    assert error_of(template) == message, reason
