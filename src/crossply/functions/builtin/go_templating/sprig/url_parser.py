"""A URL parser with the behaviour and errors of Go's net/url. Templates call it through `urls`."""

from __future__ import annotations

from typing import NamedTuple

from crossply.functions.builtin.go_templating.sprig.runes import to_bytes, to_text, walkable
from crossply.values.goquote import quote

_UNRESERVED = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~"
_PLAIN_IN_PATH = frozenset(_UNRESERVED + b"$&+,/:;=@")
_PLAIN_IN_HOST = frozenset(_UNRESERVED + b"!\"$&'()*+,:;<=>[]")
_PLAIN_IN_USERINFO = frozenset(_UNRESERVED + b"$&+,;=")
_PLAIN_IN_FRAGMENT = frozenset(_UNRESERVED + b"!$&()*+,/:;=?@")
_VALID_USERINFO = frozenset(_UNRESERVED + b":!$&'()*+,;=%@")
_HEX = frozenset(b"0123456789abcdefABCDEF")
_SCHEME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.")


class InvalidUrl(Exception):
    """A text is no URL; the message is Go's."""


class Url(NamedTuple):
    """The parts of a URL; userinfo is None when there is none."""

    scheme: str = ""
    opaque: str = ""
    userinfo: str | None = None
    host: str = ""
    path: str = ""
    query: str = ""
    fragment: str = ""


def parse(text: str) -> Url:
    """Take a URL apart."""
    before, _, fragment = walkable(text).partition("#")
    try:
        url = _parse(before)
    except InvalidUrl as error:
        raise InvalidUrl(f"parse {quote(before)}: {error}") from None
    try:
        return url._replace(fragment=_unescaped(fragment)) if fragment else url
    except InvalidUrl as error:
        raise InvalidUrl(f"parse {quote(text)}: {error}") from None


def _parse(text: str) -> Url:
    if any(char < " " or char == "\x7f" for char in text):
        raise InvalidUrl("net/url: invalid control character in URL")
    if text == "*":
        return Url(path="*")
    scheme, rest = _scheme_and_rest(text)
    rest, _, query = rest.partition("?")
    if not rest.startswith("/"):
        if scheme:
            return Url(scheme, opaque=rest, query=query)
        if ":" in rest.partition("/")[0]:
            raise InvalidUrl("first path segment in URL cannot contain colon")
    userinfo, host = None, ""
    if rest.startswith("//") and (scheme or not rest.startswith("///")):
        authority, slash, path = rest[2:].partition("/")
        rest = slash + path
        userinfo, host = _userinfo_and_host(authority, scheme)
    return Url(scheme, "", userinfo, host, _unescaped(rest), query)


def _scheme_and_rest(text: str) -> tuple[str, str]:
    scheme, colon, rest = text.partition(":")
    if colon and not scheme:
        raise InvalidUrl("missing protocol scheme")
    if not colon or not _SCHEME.issuperset(scheme) or not scheme[0].isalpha():
        return "", text
    return scheme.lower(), rest


def _userinfo_and_host(authority: str, scheme: str) -> tuple[str | None, str]:
    userinfo, at, host = authority.rpartition("@")
    host = _host(host, scheme)
    if not at:
        return None, host
    if not _VALID_USERINFO.issuperset(to_bytes(userinfo)):
        raise InvalidUrl("net/url: invalid userinfo")
    name, colon, password = userinfo.partition(":")
    parts = [_unescaped(part) for part in ((name, password) if colon else (name,))]
    return ":".join(_escaped(part, _PLAIN_IN_USERINFO) for part in parts), host


def _host(host: str, scheme: str) -> str:
    bracket = host.rfind("[")
    if bracket > 0:
        raise InvalidUrl("invalid IP-literal")
    if bracket == 0:
        return _bracketed_host(host)
    colon = host.find(":") if scheme in ("http", "https") else host.rfind(":")
    if colon >= 0:
        _check_port(host[colon:])
    return _unescaped_host(host)


def _check_port(port: str) -> None:
    digits = port[1:]
    if port and (port[0] != ":" or (digits and not (digits.isascii() and digits.isdigit()))):
        raise InvalidUrl(f"invalid port {quote(port)} after host")


def _bracketed_host(host: str) -> str:
    from ipaddress import ip_address

    name, closing, port = host[1:].rpartition("]")
    if not closing:
        raise InvalidUrl("missing ']' in host")
    _check_port(port)
    address, percent, zone = name.partition("%25")
    shown = _unescaped_host(address) + (_unescaped(percent + zone) if percent else "")
    try:
        version = ip_address(shown.partition("%")[0]).version
    except ValueError:
        raise InvalidUrl(f"invalid host: ParseAddr({quote(shown)}): unable to parse IP") from None
    if version == 4:
        raise InvalidUrl("invalid IP-literal")
    return f"[{shown}]{port}"


def _unescaped_host(text: str) -> str:
    """Unescape a host: only bytes beyond ASCII may be escaped there, and few signs may stand unescaped."""
    data = to_bytes(text)
    at = 0
    while at < len(data):
        if data[at] == ord("%"):
            _check_escape(data, at)
            if data[at + 1] < ord("8") and data[at : at + 3] != b"%25":
                raise InvalidUrl(f"invalid URL escape {quote(to_text(data[at : at + 3]))}")
            at += 3
        elif data[at] < 0x80 and data[at] not in _PLAIN_IN_HOST:
            raise InvalidUrl(f"invalid character {quote(chr(data[at]))} in host name")
        else:
            at += 1
    return _unescaped(text)


def _check_escape(data: bytes, at: int) -> None:
    digits = data[at + 1 : at + 3]
    if len(digits) < 2 or not _HEX.issuperset(digits):
        raise InvalidUrl(f"invalid URL escape {quote(to_text(data[at : at + 3]))}")


def _unescaped(text: str) -> str:
    if "%" not in text:
        return text
    data = to_bytes(text)
    first, *others = data.split(b"%")
    at = len(first)
    pieces = [first]
    for other in others:
        _check_escape(data, at)
        pieces.append(bytes([int(other[:2], 16)]) + other[2:])
        at += 1 + len(other)
    return to_text(b"".join(pieces))


def _escaped(text: str, plain: frozenset[int]) -> str:
    return "".join(chr(byte) if byte in plain else f"%{byte:02X}" for byte in to_bytes(walkable(text)))


def escaped_host(host: str) -> str:
    """A host as it stands in a URL."""
    return _escaped(host, _PLAIN_IN_HOST)


def escaped_path(path: str) -> str:
    """A path as it stands in a URL."""
    return path if path == "*" else _escaped(path, _PLAIN_IN_PATH)


def escaped_fragment(fragment: str) -> str:
    """A fragment as it stands in a URL."""
    return _escaped(fragment, _PLAIN_IN_FRAGMENT)
