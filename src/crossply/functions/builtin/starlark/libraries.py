"""The script modules `crypto`, `encoding`, `regex` and `yaml`, as functions for `prelude.star`."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Callable
from typing import Any

from crossply.values import yaml
from crossply.values.regexp import compile_go


class ArgumentError(Exception):
    """A script calls a function with invalid arguments; the message is reported with the line of the call."""


def functions() -> dict[str, Callable[..., Any]]:
    """The functions by their names in `prelude.star`."""
    return {
        "sha256": lambda data: hashlib.sha256(_bytes(data)).hexdigest(),
        "sha512": lambda data: hashlib.sha512(_bytes(data)).hexdigest(),
        "sha1": lambda data: hashlib.sha1(_bytes(data)).hexdigest(),
        "md5": lambda data: hashlib.md5(_bytes(data)).hexdigest(),
        "hmac_sha256": lambda key, message: hmac.new(_bytes(key), _bytes(message), "sha256").hexdigest(),
        "stable_id": _stable_id,
        "b64enc": lambda data: base64.b64encode(_bytes(data)).decode(),
        "b64dec": lambda data: _decode(_base64, data, 4, "base64"),
        "b64url_enc": lambda data: base64.urlsafe_b64encode(_bytes(data)).decode().rstrip("="),
        "b64url_dec": lambda data: _decode(_urlsafe_base64, data, 4, "base64"),
        "b32enc": lambda data: base64.b32encode(_bytes(data)).decode().rstrip("="),
        "b32dec": lambda data: _decode(base64.b32decode, data, 8, "base32"),
        "hex_enc": lambda data: _bytes(data).hex(),
        "hex_dec": lambda data: _decode(binascii.unhexlify, data, 1, "hex"),
        "regex_match": lambda pattern, s: compile_go(pattern).search(s) is not None,
        "regex_find": _find,
        "regex_find_all": lambda pattern, s: [match[0] for match in compile_go(pattern).finditer(s)],
        "regex_find_groups": _find_groups,
        "regex_replace": lambda pattern, s, replacement: _replace(pattern, s, replacement, 1),
        "regex_replace_all": lambda pattern, s, replacement: _replace(pattern, s, replacement, 0),
        "regex_split": lambda pattern, s: compile_go(pattern).split(s),
        "yaml_encode": yaml.dump,
        "yaml_decode": yaml.load,
        "yaml_decode_stream": lambda text: [document.value for document in yaml.read_stream(text)],
    }


def _bytes(data: Any) -> bytes:
    if not isinstance(data, str):
        raise ArgumentError(f"needs a text, not {type(data).__name__}")
    return data.encode()


def _base64(data: bytes) -> bytes:
    return base64.b64decode(data, validate=True)


def _urlsafe_base64(data: bytes) -> bytes:
    return base64.b64decode(data, altchars=b"-_", validate=True)


def _stable_id(seed: str, length: int = 8) -> str:
    if not 1 <= length <= 64:
        raise ArgumentError("length must be between 1 and 64")
    return hashlib.sha256(_bytes(seed)).hexdigest()[:length]


def _decode(decode: Callable[[bytes], bytes], data: Any, unit: int, encoding: str) -> str:
    text = _bytes(data).rstrip(b"=") if unit > 1 else _bytes(data)
    try:
        return decode(text + b"=" * (-len(text) % unit)).decode()
    except (binascii.Error, ValueError):
        raise ArgumentError(f"is no {encoding} of a text") from None


def _find(pattern: str, s: str) -> str | None:
    match = compile_go(pattern).search(s)
    return match and str(match[0])


def _find_groups(pattern: str, s: str) -> list[str] | None:
    match = compile_go(pattern).search(s)
    return [group or "" for group in match.groups()] if match else None


def _replace(pattern: str, s: str, replacement: str, count: int) -> str:
    """Replace matches; `$1` and `${1}` in the replacement refer to groups, as in Go."""
    groups = compile_go(r"\$(?:\{(\w+)\}|(\w+)|(\$))")

    def text_of(match: Any) -> str:
        def group(reference: Any) -> str:
            name = reference[1] or reference[2]
            if name is None:
                return "$"
            group_numbers = match.re.groupindex
            number = int(name) if name.isdigit() else group_numbers.get(name, -1)
            return (match[number] or "") if 0 <= number <= match.re.groups else ""

        return str(groups.sub(group, replacement))

    return str(compile_go(pattern).sub(text_of, s, count))
