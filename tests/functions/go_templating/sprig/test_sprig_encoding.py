"""Sprig's base64, base32 and checksums. The answers are those of the Go library."""

from __future__ import annotations

import pytest

from tests.support.functions.sprig import rendered

ANSWERS = [
    ('{{ b64enc "hé" }}', "aMOp", "line breaks are skipped"),
    ('{{ b64dec "aMOp" }}', "hé", "line breaks are skipped"),
    ('{{ b64dec "aM\\nOp" }}', "hé", "line breaks are skipped"),
    ('{{ b64dec "!!" }}', "illegal base64 data at input byte 0", "the error is the result"),
    ('{{ b64dec "aGVsbG8" }}', "illegal base64 data at input byte 4", "the error is the result"),
    ('{{ b64dec "aGVsbG8==" }}', "illegal base64 data at input byte 8", "the error is the result"),
    ('{{ b32enc "hé" }}', "NDB2S===", "base32"),
    ('{{ b32dec "NDB2S===" }}', "hé", "base32"),
    ('{{ b32dec "NBSWY3DP\\n" }}', "hello", "base32"),
    ('{{ b32dec "nb" }}', "illegal base32 data at input byte 0", "where base32 goes wrong"),
    ('{{ b32dec "NBSWY" }}', "illegal base32 data at input byte 0", "where base32 goes wrong"),
    ('{{ b32dec "MZ=XW6==" }}', "illegal base32 data at input byte 2", "where base32 goes wrong"),
    ('{{ b32dec "MZXW====" }}', "fo", "where base32 goes wrong"),
    ('{{ b32dec "MZX=====" }}', "illegal base32 data at input byte 3", "where base32 goes wrong"),
    ('{{ b32dec "MY=====" }}', "illegal base32 data at input byte 7", "where base32 goes wrong"),
    ('{{ sha1sum "a" }}', "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8", "checksums"),
    ('{{ adler32sum "abc" }}', "38600999", "checksums"),
    ('{{ sha256sum "" }}', "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "of nothing"),
    ('{{ sha512sum "é" | trunc 16 }}', "9e2ad28633f24451", "of UTF-8"),
]


@pytest.mark.parametrize(("template", "text", "reason"), ANSWERS)
def test_a_template_equals_the_output_of_go(template: str, text: str, reason: str) -> None:
    assert rendered(template) == text, reason
