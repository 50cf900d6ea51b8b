"""Sprig's plain string functions. The answers are those of the Go library."""

from __future__ import annotations

import pytest

from tests.support.functions.sprig import error_of, rendered

ANSWERS = [
    ('{{ trim "\\t a b\\u00a0\\n" }}', "a b", "white space is Unicode's"),
    ('{{ trim "\\x1ca" | quote }}', '"\\x1ca"', "a file separator is no white space to Go"),
    ('{{ trimAll "-x" "-x-a-x-" }}', "a", "any of the characters, at both ends"),
    ('{{ trimall "" " a " }}', " a ", "an empty set takes nothing off, not even blanks"),
    ('{{ trimPrefix "-" "--a" }}', "-a", "once only"),
    ('{{ trimSuffix "-" "a--" }}', "a-", "once only"),
    ('{{ contains "b" "abc" }}', "true", "the part comes first"),
    ('{{ hasPrefix "b" "abc" }}', "false", "the part comes first"),
    ('{{ hasSuffix "c" "abc" }}', "true", "the part comes first"),
    ('{{ repeat 3 "ab" }}', "ababab", "count first"),
    ('{{ repeat 0 "x" }}', "", "count first"),
    ('{{ replace "a" "bb" "banana" }}', "bbbnbbnbb", "an empty text stands between all characters"),
    ('{{ replace "" "-" "ab" }}', "-a-b-", "an empty text stands between all characters"),
    ('{{ plural "one" "many" 1 }}', "one", "zero is many"),
    ('{{ plural "one" "many" 0 }}', "many", "zero is many"),
    ('{{ trunc 2 "é!" | b64enc }}', "w6k=", "cuts bytes, also within a character"),
    ('{{ trunc 1 "é" | b64enc }}', "ww==", "cuts bytes, also within a character"),
    ('{{ trunc -2 "abc" }}', "bc", "a negative length counts from the end"),
    ('{{ trunc -9 "abc" }}', "abc", "a negative length counts from the end"),
    ('{{ trunc 9 "abc" }}', "abc", "a negative length counts from the end"),
    ('{{ substr 1 3 "abcd" }}', "bc", "negative bounds mean the ends"),
    ('{{ substr -1 2 "abcd" }}', "ab", "negative bounds mean the ends"),
    ('{{ substr 2 -1 "abcd" }}', "cd", "negative bounds mean the ends"),
    ('{{ substr 2 99 "abcd" }}', "cd", "negative bounds mean the ends"),
    (
        '{{ quote "a\\"b" nil 1 2.5 (list 1 "x") }}',
        '"a\\"b" "1" "2.5" "[1 x]"',
        "nil is left out, others are printed first",
    ),
    ('{{ quote "tab\\tÿ\\u200b\\x00" }}', '"tab\\tÿ\\u200b\\x00"', "Go's escapes"),
    ('{{ squote "it\'s" nil true }}', "'it's' 'true'", "nothing is escaped between single quotes"),
    ('{{ cat "a" nil 1 (list) (dict "k" "v") }}', "a 1 [] map[k:v]", "printed with blanks between"),
    (
        '{{ toStrings (list 1 nil "b" 2.5) | toJson }}',
        '["1","b","2.5"]',
        "nil is left out, a single value becomes a list",
    ),
    ("{{ toStrings 5 | toJson }}", '["5"]', "nil is left out, a single value becomes a list"),
    ("{{ toStrings nil | toJson }}", "[]", "nil is left out, a single value becomes a list"),
    ('{{ join "-" (list 1 nil "b") }}', "1-b", "joins anything"),
    ('{{ join "-" "abc" }}', "abc", "joins anything"),
    ('{{ join "-" (until 3) }}', "0-1-2", "joins anything"),
    ('{{ sortAlpha (list "b" "é" "a" "B" 10 9) }}', "[10 9 B a b é]", "sorts by bytes, numbers as texts"),
    ('{{ sortAlpha "x" | toJson }}', '["x"]', "sorts by bytes, numbers as texts"),
    ('{{ splitList "," "a,,b" | toJson }}', '["a","","b"]', "an empty separator splits characters"),
    ('{{ splitList "" "aé" | toJson }}', '["a","é"]', "an empty separator splits characters"),
    ('{{ split "$" "a$b" }}', "map[_0:a _1:b]", "a map with numbered keys"),
    ('{{ (split "$" "a$b")._1 }}', "b", "a map with numbered keys"),
    ('{{ splitn "," 2 "a,b,c" }}', "map[_0:a _1:b,c]", "at most so many parts"),
    ('{{ splitn "," 0 "a" }}', "map[]", "at most so many parts"),
    ('{{ splitn "" 2 "abc" }}', "map[_0:a _1:bc]", "at most so many parts"),
    ("{{ toString 1.0 }}", "1", "as Go prints it"),
    ('{{ toString (list 1 "a" nil) }}', "[1 a <nil>]", "as Go prints it"),
    ("{{ toString nil }}", "<nil>", "as Go prints it"),
    ('{{ b64dec "/wA=" | toString | quote }}', '"\\xff\\x00"', "bytes that are no text survive"),
]
ERRORS = [
    ('{{ repeat -1 "x" }}', "strings: negative Repeat count", "negative count"),
    (
        '{{ substr 3 2 "abcd" }}',
        "runtime error: slice bounds out of range [3:2]",
        "bounds in the wrong order",
    ),
    ('{{ substr 9 -1 "abcd" }}', "runtime error: slice bounds out of range [9:4]", "start beyond the end"),
    (
        '{{ substr -1 9 "abcd" }}',
        "runtime error: slice bounds out of range [:9] with length 4",
        "end beyond the end",
    ),
    (
        '{{ substr -1 -2 "abcd" }}',
        "runtime error: slice bounds out of range [:-2]",
        "negative end without a start",
    ),
    ('{{ indent -1 "x" }}', "strings: negative Repeat count", "negative indentation"),
]


@pytest.mark.parametrize(("template", "text", "reason"), ANSWERS)
def test_a_template_equals_the_output_of_go(template: str, text: str, reason: str) -> None:
    assert rendered(template) == text, reason


@pytest.mark.parametrize(("template", "message", "reason"), ERRORS)
def test_a_call_fails_in_the_words_of_go(template: str, message: str, reason: str) -> None:
    assert error_of(template) == message, reason
