"""String transforms: format, trim, regexp, join, replace and convert (case, base64, JSON, digests)."""

from __future__ import annotations

from binascii import b2a_base64
from typing import Any

from crossply.errors import CrossplyError
from crossply.functions.builtin.patch_and_transform.dialect import Dialect, Transform
from crossply.functions.builtin.patch_and_transform.errors import FAILURES, Failure, fail_with, wrap
from crossply.functions.builtin.patch_and_transform.text_formatting import (
    check_length,
    formatter,
    to_text,
    valid_text,
)
from crossply.values import Object
from crossply.values.gojson import dumps
from crossply.values.goquote import quote, utf8
from crossply.values.regexp import compile_go

_FIELDS = {
    "Format": "fmt",
    "Convert": "convert",
    "TrimPrefix": "trim",
    "TrimSuffix": "trim",
    "Regexp": "regexp",
    "Join": "join",
    "Replace": "replace",
}


def string_transform(settings: Object, dialect: Dialect) -> Transform:
    kind = settings.get("type", "")
    if kind not in dialect.string_types:
        return fail_with(f"type {kind} is not supported for string transform type")
    field = _FIELDS[kind]
    if field not in settings:
        return fail_with(f"string transform of type {kind} {field} is not set")
    return _compile(kind, settings[field], dialect)


def _compile(kind: str, setting: Any, dialect: Dialect) -> Transform:
    if kind == "Format":
        formatted = formatter(setting, 1)
        return lambda value: formatted((value,))
    if kind == "Convert":
        return conversion(setting)
    if kind == "TrimPrefix":
        return lambda value: to_text(value).removeprefix(setting)
    if kind == "TrimSuffix":
        return lambda value: to_text(value).removesuffix(setting)
    if kind == "Regexp":
        return _regexp_extract(setting.get("match", ""), setting.get("group", 0))
    if kind == "Join":
        return _join(setting.get("separator", ""), dialect)
    return _replace(setting.get("search", ""), setting.get("replace", ""))


def _regexp_extract(expression: str, group: int) -> Transform:
    try:
        pattern = compile_go(expression)
    except CrossplyError as error:
        return fail_with(f"could not compile regexp: {error}")
    search, groups = pattern.search, pattern.groups

    def extract_details(value: Any) -> str:
        match = search(valid_text(to_text(value)))
        if match is None or group > groups:
            raise Failure(f"regexp {quote(expression)} had no matches for group {group}")
        if group < 0:
            # The original crashes here.
            raise Failure(f"regexp {quote(expression)} cannot have a negative group {group}")
        return match.group(group) or ""

    return extract_details


def _join(separator: str, dialect: Dialect) -> Transform:
    join = dialect.join

    def join_items(value: Any) -> str:
        if type(value) is not list:
            raise Failure(dialect.join_error)
        check_length(len(separator) * len(value))
        return join(separator, [to_text(item) for item in value])

    return join_items


def _replace(search: str, replacement: str) -> Transform:
    def replace(value: Any) -> str:
        text = to_text(value)
        check_length(text.count(search) * len(replacement))
        return text.replace(search, replacement)

    return replace


def conversion(name: str) -> Transform:
    decoded = _CONVERSIONS.get(name)
    return decoded if decoded is not None else fail_with(f"type {name} is not supported for string convert")


def _to_upper(value: Any) -> str:
    text = to_text(value)
    return text.upper() if text.isascii() else "".join(map(_upper_letter, text))


def _to_lower(value: Any) -> str:
    text = to_text(value)
    return text.lower() if text.isascii() else "".join(map(_lower_letter, text))


def _upper_letter(letter: str) -> str:
    """Map one letter to one letter, as Go does: ß stays ß."""
    for changed in (letter.upper(), letter.title()):
        if len(changed) == 1:
            return changed
    return letter


def _lower_letter(letter: str) -> str:
    # Only İ has a lower case of two code points. Go returns the first.
    return letter.lower()[0]


def _to_json(value: Any) -> str:
    try:
        return dumps(value)
    except FAILURES as error:
        raise wrap("cannot marshal to JSON", error) from None


def _to_base64(value: Any) -> str:
    return b2a_base64(utf8(to_text(value)), newline=False).decode()


def _from_base64(value: Any) -> str:
    from crossply.values.gobase64 import decode

    try:
        # Invalid UTF-8 is kept as surrogate escapes until the value is written.
        return decode(to_text(value)).decode("utf-8", "surrogateescape")
    except FAILURES as error:
        raise wrap("string is not valid base64", error) from None


def _hash_input(value: Any, prefix: str) -> bytes:
    if type(value) is str:
        return utf8(value)
    try:
        return dumps(value).encode("utf-8", "surrogateescape")
    except FAILURES as error:
        raise wrap(f"{prefix}: cannot marshal to JSON", error) from None


def _digest(name: str) -> Transform:
    def digest(value: Any) -> str:
        import hashlib

        return hashlib.new(
            name, _hash_input(value, "cannot generate hash"), usedforsecurity=False
        ).hexdigest()

    return digest


def _to_adler32(value: Any) -> str:
    from zlib import adler32

    return str(adler32(_hash_input(value, "unable to generate Adler checksum")))


_CONVERSIONS: dict[str, Transform] = {
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
