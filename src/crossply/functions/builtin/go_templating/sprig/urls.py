"""Sprig's urlParse and urlJoin: Go's net/url, its leniency and its complaints."""

from __future__ import annotations

from typing import Any

from crossply.functions.builtin.go_templating.signatures import FunctionFailed
from crossply.functions.builtin.go_templating.sprig.url_parsing import (
    InvalidUrl,
    escaped_fragment,
    escaped_host,
    escaped_path,
    parse,
)
from crossply.functions.builtin.go_templating.values import go_kind


def url_parse(text: str) -> dict[str, Any]:
    """Take a URL apart."""
    try:
        url = parse(text)
    except InvalidUrl as error:
        raise FunctionFailed(f"unable to parse url: {error}") from None
    return {
        "scheme": url.scheme,
        "host": url.host,
        "hostname": _hostname(url.host),
        "path": url.path,
        "query": url.query,
        "opaque": url.opaque,
        "fragment": url.fragment,
        "userinfo": url.userinfo or "",
    }


def _hostname(host: str) -> str:
    name, colon, port = host.rpartition(":")
    if not colon or (port and not (port.isascii() and port.isdigit())):
        name = host
    return name[1:-1] if name.startswith("[") and name.endswith("]") else name


def url_join(parts: dict[str, Any] | None) -> str:
    """Put a URL together from the parts that urlParse gives."""
    given = {name: _text(parts or {}, name) for name in _PARTS}
    userinfo = _userinfo(given["userinfo"])
    text = f"{given['scheme']}:" if given["scheme"] else ""
    text += given["opaque"] or _authority_and_path(given, userinfo, text)
    if given["query"]:
        text += f"?{given['query']}"
    if given["fragment"]:
        text += f"#{escaped_fragment(given['fragment'])}"
    return text


_PARTS = ("scheme", "host", "path", "query", "opaque", "fragment", "userinfo")


def _text(parts: dict[str, Any], name: str) -> str:
    value = parts.get(name, "")
    if name in parts and value is None:
        raise FunctionFailed("runtime error: invalid memory address or nil pointer dereference")
    if not isinstance(value, str):
        found = go_kind(value)
        raise FunctionFailed(f"unable to parse {name} key, must be of type string, but {found} found")
    return value


def _userinfo(text: str) -> str | None:
    if not text:
        return None
    try:
        return parse(f"proto://{text}@host").userinfo
    except InvalidUrl as error:
        raise FunctionFailed(f"unable to parse userinfo in dict: {error}") from None


def _authority_and_path(given: dict[str, str], userinfo: str | None, before: str) -> str:
    host, path = given["host"], escaped_path(given["path"])
    authority = "//" if host or userinfo is not None or (given["scheme"] and given["path"]) else ""
    if userinfo is not None:
        authority += f"{userinfo}@"
    authority += escaped_host(host)
    if host and path and path[0] != "/":
        path = "/" + path
    if not before and not authority and ":" in path.partition("/")[0]:
        # A relative path must not be mistaken for a scheme.
        path = "./" + path
    return authority + path
