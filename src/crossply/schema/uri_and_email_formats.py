"""URIs and mail addresses, as Go's url.ParseRequestURI and mail.ParseAddress accept them."""

from __future__ import annotations

import re

_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):(.*)", re.DOTALL)
_BAD_ESCAPE = re.compile(r"%(?![0-9a-fA-F]{2})")
_HOST_ESCAPE = re.compile(r"%(?!25)[0-7]", re.ASCII)
_HOST = re.compile(r"(?:[A-Za-z0-9\-._~!$&'()*+,;=:\[\]<>\"%]|[^\x00-\x7f])*")
_USER = re.compile(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*")


def is_request_uri(text: str) -> bool:
    """Return whether a text can stand in the first line of an HTTP request."""
    if not text or any(letter < " " or letter == "\x7f" for letter in text):
        return False
    if text == "*":
        return True
    scheme, rest = _split_scheme(text)
    if scheme is None:
        return False
    rest = rest.partition("?")[0]
    if not rest.startswith("/"):
        return bool(scheme)
    if scheme and rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        return _is_authority(authority) and _BAD_ESCAPE.search(slash + path) is None
    return _BAD_ESCAPE.search(rest) is None


def _split_scheme(text: str) -> tuple[str | None, str]:
    match = _SCHEME.fullmatch(text)
    if match:
        return match[1], match[2]
    first = text[0]
    # A colon before anything else means that the scheme is missing; other beginnings have no scheme.
    return (None, "") if first == ":" else ("", text)


def _is_authority(text: str) -> bool:
    user, at, host = text.rpartition("@")
    if at and (_USER.fullmatch(user) is None or _BAD_ESCAPE.search(user)):
        return False
    if not _HOST.fullmatch(host):
        return False
    if host.startswith("["):
        end = host.rfind("]")
        return end > 0 and _is_port(host[end + 1 :])
    if "[" in host or "]" in host:
        return False
    name, colon, port = host.rpartition(":")
    return _is_port(colon + port if colon else "") and _is_host_text(name if colon else host)


def _is_host_text(host: str) -> bool:
    return _BAD_ESCAPE.search(host) is None and _HOST_ESCAPE.search(host) is None


def _is_port(text: str) -> bool:
    return text == "" or (text[0] == ":" and (text[1:] == "" or (text[1:].isascii() and text[1:].isdigit())))


_LETTER = r"A-Za-z0-9!#$%&'*+\-/=?^_`{|}~\x80-\U0010ffff"
_DOT_ATOM = rf"[{_LETTER}]+(?:\.[{_LETTER}]+)*"
_QUOTED = r'"(?:[^"\\\x00-\x08\x0a-\x1f\x7f]|\\[\t -~])*"'
_SPEC = re.compile(rf"(?:{_DOT_ATOM}|{_QUOTED})[ \t]*@[ \t]*(?:{_DOT_ATOM}|\[[0-9A-Fa-f:.]+\])[ \t]*")
_NAME = re.compile(rf"(?:{_QUOTED}|[{_LETTER}. \t])*")


def is_address(text: str) -> bool:
    """Return whether a text is one mail address, with or without a display name."""
    bare = text.strip(" \t")
    if not bare.endswith(">"):
        return _SPEC.fullmatch(bare) is not None
    name, bracket, address = bare[:-1].rpartition("<")
    return bool(bracket) and _NAME.fullmatch(name) is not None and _SPEC.fullmatch(address) is not None
