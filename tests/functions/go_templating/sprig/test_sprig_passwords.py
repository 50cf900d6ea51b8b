"""Sprig's passwords and keys, where dice decide nothing. The answers are those of the Go library."""

from __future__ import annotations

import pytest

from tests.support.functions.sprig import error_of, rendered

ANSWERS = [
    (
        '{{ derivePassword 1 "long" "password" "user" "example.com" }}',
        "ZedaFaxcZaso9*",
        "follows from its arguments",
    ),
    (
        '{{ derivePassword 2 "maximum" "password" "user" "example.com" }}',
        "O8-6Bwz1*I5XVPPq)@H!",
        "follows from its arguments",
    ),
    (
        '{{ derivePassword 1 "nope" "a" "b" "c" }}',
        "cannot find password template nope",
        "follows from its arguments",
    ),
    ('{{ derivePassword 1 "pin" "p" "ü" "s" }}', "5856", "each kind"),
    ('{{ derivePassword 1 "basic" "p" "u" "s" }}', "tGf1NEr0", "each kind"),
    (
        '{{ decryptAES "secretkey" "30tEfhuJSVRhpG97XCuWgz2okj7L8vQ1s6V9zVUPeDQ=" }}',
        "plaintext",
        "what another encrypted",
    ),
    ('{{ decryptAES "x" "" }}', "", "what another encrypted"),
    ('{{ encryptAES "x" "" }}', "", "what another encrypted"),
    ('{{ htpasswd "a:b" "c" }}', "invalid username: a:b", "complaints are results"),
    (
        '{{ bcrypt (repeat 73 "x") }}',
        "failed to encrypt string with bcrypt: bcrypt: password length exceeds 72 bytes",
        "complaints are results",
    ),
    ('{{ genPrivateKey "foo" }}', "Unknown type foo", "an unknown kind"),
]
ERRORS = [
    ('{{ decryptAES "k" "!" }}', "illegal base64 data at input byte 0", "no base64"),
    (
        '{{ decryptAES "k" "abcd" }}',
        "runtime error: slice bounds out of range [:16] with capacity 3",
        "less than a block",
    ),
    (
        '{{ decryptAES "k" "AAAAAAAAAAAAAAAAAAAAAA==" }}',
        "runtime error: index out of range [-1]",
        "one block",
    ),
    (
        '{{ decryptAES "k" "AAAAAAAAAAAAAAAAAAAAAAA=" }}',
        "crypto/cipher: input not full blocks",
        "a broken block",
    ),
    ('{{ buildCustomCert "!" "" }}', "unable to decode base64 certificate", "no base64"),
    ('{{ buildCustomCert "" "" }}', "unable to decode certificate", "no certificate"),
    ('{{ buildCustomCert "" "!" }}', "unable to decode base64 private key", "no key"),
    ('{{ genCAWithKey "x" 1 "" }}', "parsing private key: no PEM data in input", "no key"),
    (
        '{{ genCAWithKey "x" 1 "-----BEGIN FOO-----\\nAAAA\\n-----END FOO-----\\n" }}',
        "parsing private key: no private key data in PEM block of type FOO",
        "another block",
    ),
    (
        ('{{ genCAWithKey "x" 1 "-----BEGIN X PRIVATE KEY-----\\nAAAA\\n-----END X PRIVATE KEY-----\\n" }}'),
        "parsing private key: invalid private key type X PRIVATE KEY",
        "an unknown key",
    ),
    ('{{ genSelfSignedCert "x" (list 1) nil 1 }}', "error parsing ip: 1 is not a string", "no address"),
    ('{{ genSelfSignedCert "x" (list "1.2.3") nil 1 }}', "error parsing ip: 1.2.3", "no address"),
    (
        '{{ genSelfSignedCert "x" nil (list 5) 1 }}',
        "error processing alternate dns name: 5 is not a string",
        "no name",
    ),
    ("{{ randInt 5 5 }}", "invalid argument to Intn", "an empty range"),
    ("{{ randBytes -1 }}", "runtime error: makeslice: len out of range", "less than nothing"),
]


@pytest.mark.parametrize(("template", "text", "reason"), ANSWERS)
def test_a_template_equals_the_output_of_go(template: str, text: str, reason: str) -> None:
    assert rendered(template) == text, reason


@pytest.mark.parametrize(("template", "message", "reason"), ERRORS)
def test_a_call_fails_in_the_words_of_go(template: str, message: str, reason: str) -> None:
    assert error_of(template) == message, reason
