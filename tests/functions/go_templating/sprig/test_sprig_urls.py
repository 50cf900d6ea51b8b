"""Sprig's urlParse and urlJoin. The answers are those of the Go library."""

from __future__ import annotations

import pytest

from tests.support.functions.sprig import error_of, rendered

ANSWERS = [
    (
        '{{ urlParse "http://u:p%40@Ex.com:8080/p%20a?x=1&y#fr%20g" }}',
        (
            "map[fragment:fr g host:Ex.com:8080 hostname:Ex.com opaque: path:/p a query:x=1&y "
            "scheme:http userinfo:u:p%40]"
        ),
        "all parts",
    ),
    (
        '{{ urlParse "mailto:a@b.c?x" }}',
        "map[fragment: host: hostname: opaque:a@b.c path: query:x scheme:mailto userinfo:]",
        "opaque",
    ),
    (
        '{{ urlParse "//h/p" }}',
        "map[fragment: host:h hostname:h opaque: path:/p query: scheme: userinfo:]",
        "relative",
    ),
    (
        '{{ urlParse "/rel?" }}',
        "map[fragment: host: hostname: opaque: path:/rel query: scheme: userinfo:]",
        "relative",
    ),
    (
        '{{ urlParse "*" }}',
        "map[fragment: host: hostname: opaque: path:* query: scheme: userinfo:]",
        "relative",
    ),
    ('{{ (urlParse "http://[fe80::1%25en0]:80/").hostname }}', "fe80::1%en0", "hosts"),
    ('{{ (urlParse "HTTP://h").scheme }}', "http", "hosts"),
    ('{{ (urlParse "http://h:").hostname }}', "h", "hosts"),
    (
        (
            '{{ urlJoin (dict "scheme" "http" "host" "h:80" "path" "/a b" "query" "q=1" "fragment" '
            '"f g" "userinfo" "u:p") }}'
        ),
        "http://u:p@h:80/a%20b?q=1#f%20g",
        "escapes what must be",
    ),
    ('{{ urlJoin (dict "path" "a:b") }}', "./a:b", "relative and opaque ones"),
    ('{{ urlJoin (dict "host" "h" "path" "p") }}', "//h/p", "relative and opaque ones"),
    ('{{ urlJoin (dict "scheme" "x" "opaque" "y") }}', "x:y", "relative and opaque ones"),
    ("{{ urlJoin (dict) }}", "", "relative and opaque ones"),
    ('{{ urlJoin (urlParse "ftp://ü.com/é?ä#ö") }}', "ftp://%C3%BC.com/%C3%A9?ä#%C3%B6", "beyond ASCII"),
]
ERRORS = [
    ('{{ urlParse ":" }}', 'unable to parse url: parse ":": missing protocol scheme', "no scheme"),
    (
        '{{ urlParse "http://h/%zz" }}',
        'unable to parse url: parse "http://h/%zz": invalid URL escape "%zz"',
        "a bad escape",
    ),
    (
        '{{ urlParse "http://a b/" }}',
        'unable to parse url: parse "http://a b/": invalid character " " in host name',
        "a blank in the host",
    ),
    (
        '{{ urlParse "http://[::1" }}',
        "unable to parse url: parse \"http://[::1\": missing ']' in host",
        "an open bracket",
    ),
    (
        '{{ urlParse "http://h:x/" }}',
        'unable to parse url: parse "http://h:x/": invalid port ":x" after host',
        "no port",
    ),
    (
        '{{ urlParse "a:b:c/d" | toString | fail }}',
        "map[fragment: host: hostname: opaque:b:c/d path: query: scheme:a userinfo:]",
        "opaque is fine",
    ),
    (
        '{{ urlParse "1a:b" }}',
        'unable to parse url: parse "1a:b": first path segment in URL cannot contain colon',
        "a colon in the first segment",
    ),
    (
        '{{ urlParse "http://h\\n/" }}',
        'unable to parse url: parse "http://h\\n/": net/url: invalid control character in URL',
        "a control character",
    ),
    (
        '{{ urlParse "http://u|@h/" }}',
        'unable to parse url: parse "http://u|@h/": net/url: invalid userinfo',
        "bad user info",
    ),
    (
        '{{ urlJoin (dict "path" 5) }}',
        "unable to parse path key, must be of type string, but int found",
        "no text",
    ),
    (
        '{{ urlJoin (dict "userinfo" "a b") }}',
        'unable to parse userinfo in dict: parse "proto://a b@host": net/url: invalid userinfo',
        "bad user info",
    ),
    (
        '{{ urlParse "http://x[y]/" }}',
        'unable to parse url: parse "http://x[y]/": invalid IP-literal',
        "a bracket in the middle",
    ),
]


@pytest.mark.parametrize(("template", "text", "reason"), ANSWERS)
def test_a_template_equals_the_output_of_go(template: str, text: str, reason: str) -> None:
    assert rendered(template) == text, reason


@pytest.mark.parametrize(("template", "message", "reason"), ERRORS)
def test_a_call_fails_in_the_words_of_go(template: str, message: str, reason: str) -> None:
    assert error_of(template) == message, reason
