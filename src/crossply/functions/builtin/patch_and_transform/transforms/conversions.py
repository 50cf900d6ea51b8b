"""Conversions of text: letter case, base64, JSON and digests."""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Callable
from typing import Any

from crossply.functions.builtin.patch_and_transform.failure import REASONS, failing, wrap
from crossply.functions.builtin.patch_and_transform.texts import text_of
from crossply.values.gojson import dumps
from crossply.values.goquote import utf8

Change = Callable[[Any], Any]


def conversion(name: str) -> Change:
    """Make the closure of a conversion."""
    known = _CONVERSIONS.get(name)
    return known if known is not None else failing(f"type {name} is not supported for string convert")


def _to_upper(value: Any) -> str:
    text = text_of(value)
    return text.upper() if text.isascii() else "".join(map(_upper_letter, text))


def _to_lower(value: Any) -> str:
    text = text_of(value)
    return text.lower() if text.isascii() else "".join(map(_lower_letter, text))


def _upper_letter(letter: str) -> str:
    """One letter for one letter: Go knows no ß → SS."""
    for changed in (letter.upper(), letter.title()):
        if len(changed) == 1:
            return changed
    return letter


def _lower_letter(letter: str) -> str:
    # Only İ has a lower case of two code points; its first is the letter that Go gives.
    return letter.lower()[0]


def _to_json(value: Any) -> str:
    try:
        return dumps(value)
    except REASONS as reason:
        raise wrap("cannot marshal to JSON", reason) from None


def _to_base64(value: Any) -> str:
    return b2a_base64(utf8(text_of(value)), newline=False).decode()


def _from_base64(value: Any) -> str:
    from crossply.values.gobase64 import decode

    try:
        # Bytes that are no UTF-8 stay what they are until the value is written.
        return decode(text_of(value)).decode("utf-8", "surrogateescape")
    except REASONS as reason:
        raise wrap("string is not valid base64", reason) from None


def _hashed(value: Any, said: str) -> bytes:
    if type(value) is str:
        return utf8(value)
    try:
        return dumps(value).encode("utf-8", "surrogateescape")
    except REASONS as reason:
        raise wrap(f"{said}: cannot marshal to JSON", reason) from None


def _digest(name: str) -> Change:
    def digest(value: Any) -> str:
        import hashlib

        return hashlib.new(name, _hashed(value, "cannot generate hash"), usedforsecurity=False).hexdigest()

    return digest


def _to_adler32(value: Any) -> str:
    from zlib import adler32

    return str(adler32(_hashed(value, "unable to generate Adler checksum")))


_CONVERSIONS: dict[str, Change] = {
    "ToUpper": _to_upper,
    "ToLower": _to_lower,
    "ToJson": _to_json,
    "ToBase64": _to_base64,
    "FromBase64": _from_base64,
    "ToSha1": _digest("sha1"),
    "ToSha256": _digest("sha256"),
    "ToSha512": _digest("sha512"),
    "ToAdler32": _to_adler32,
}
