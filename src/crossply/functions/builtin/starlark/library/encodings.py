"""The module `encoding`: base64, base32 and hexadecimal."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable

from crossply.functions.builtin.starlark.language.arguments import STRING, Signature, required
from crossply.functions.builtin.starlark.language.failures import EvalError
from crossply.functions.builtin.starlark.language.go_strings import from_bytes, to_bytes
from crossply.functions.builtin.starlark.language.values import Builtin, Module
from crossply.functions.builtin.starlark.library.crypto import data_of
from crossply.values import gobase64

_LINE_BREAKS = re.compile(rb"[\r\n]")
_BASE64_URL = re.compile(rb"[A-Za-z0-9_-]*")
_BASE32 = re.compile(rb"[A-Z2-7]*")
_HEX = re.compile(rb"[0-9A-Fa-f]*")


class _Corrupt(Exception):
    """Data is not in its encoding; the message says so."""


def _prefix(pattern: re.Pattern[bytes], data: bytes) -> int:
    """How many bytes fit the alphabet."""
    match = pattern.match(data)
    return match.end() if match else 0


def _base64_decoded(data: bytes) -> bytes:
    try:
        return gobase64.decode(from_bytes(data))
    except gobase64.Base64Error as error:
        raise _Corrupt(str(error)) from None


def _url_decoded(data: bytes) -> bytes:
    body = _LINE_BREAKS.sub(b"", data)
    fitting = _prefix(_BASE64_URL, body)
    if fitting < len(body):
        raise _Corrupt(f"illegal base64 data at input byte {fitting}")
    if len(body) % 4 == 1:
        raise _Corrupt(f"illegal base64 data at input byte {len(body) // 4 * 4}")
    return base64.urlsafe_b64decode(body + b"=" * (-len(body) % 4))


def _base32_decoded(data: bytes) -> bytes:
    body = _LINE_BREAKS.sub(b"", data)
    fitting = _prefix(_BASE32, body)
    if fitting < len(body):
        raise _Corrupt(f"illegal base32 data at input byte {fitting}")
    try:
        return base64.b32decode(body + b"=" * (-len(body) % 8))
    except binascii.Error:
        raise _Corrupt(f"illegal base32 data at input byte {len(body)}") from None


def _hex_decoded(data: bytes) -> bytes:
    fitting = _prefix(_HEX, data)
    if fitting < len(data):
        raise _Corrupt(f"encoding/hex: invalid byte: U+{data[fitting]:04X} {chr(data[fitting])!r}")
    if len(data) % 2:
        raise _Corrupt("encoding/hex: odd length hex string")
    return bytes.fromhex(data.decode())


def _encoder(name: str, encode: Callable[[bytes], bytes]) -> Builtin:
    signature = Signature(name, required("data"))
    return Builtin(name, lambda args, kwargs: encode(data_of(name, signature.bind(args, kwargs)[0])).decode())


def _decoder(name: str, decode: Callable[[bytes], bytes]) -> Builtin:
    signature = Signature(name, required("data", STRING))

    def implementation(args: tuple[object, ...], kwargs: dict[str, object]) -> str:
        (text,) = signature.bind(args, kwargs)
        try:
            return from_bytes(decode(to_bytes(text)))
        except _Corrupt as error:
            raise EvalError(f"{name}: {error}") from None

    return Builtin(name, implementation)


ENCODING = Module(
    "encoding",
    {
        "b64enc": _encoder("encoding.b64enc", base64.b64encode),
        "b64dec": _decoder("encoding.b64dec", _base64_decoded),
        "b64url_enc": _encoder(
            "encoding.b64url_enc", lambda data: base64.urlsafe_b64encode(data).rstrip(b"=")
        ),
        "b64url_dec": _decoder("encoding.b64url_dec", _url_decoded),
        "b32enc": _encoder("encoding.b32enc", lambda data: base64.b32encode(data).rstrip(b"=")),
        "b32dec": _decoder("encoding.b32dec", _base32_decoded),
        "hex_enc": _encoder("encoding.hex_enc", lambda data: data.hex().encode()),
        "hex_dec": _decoder("encoding.hex_dec", _hex_decoded),
    },
)
