"""urlParse and urlJoin, with the leniency and errors of Go's net/url; getHostByName, which is refused."""

from __future__ import annotations

from typing import Any, NoReturn

from crossply.functions.builtin.go_templating.engine.go_types import go_kind
from crossply.functions.builtin.go_templating.engine.signatures import FunctionFailed
from crossply.functions.builtin.go_templating.sprig.url_parser import (
    InvalidUrl,
    escaped_fragment,
    escaped_host,
    escaped_path,
    parse,
)


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
    url_parts = {name: _text(parts or {}, name) for name in _PARTS}
    userinfo = _userinfo(url_parts["userinfo"])
    text = f"{url_parts['scheme']}:" if url_parts["scheme"] else ""
    text += url_parts["opaque"] or _authority_and_path(url_parts, userinfo, text)
    if url_parts["query"]:
        text += f"?{url_parts['query']}"
    if url_parts["fragment"]:
        text += f"#{escaped_fragment(url_parts['fragment'])}"
    return text


_PARTS = ("scheme", "host", "path", "query", "opaque", "fragment", "userinfo")


def _text(parts: dict[str, Any], name: str) -> str:
    value = parts.get(name, "")
    if name in parts and value is None:
        raise FunctionFailed("runtime error: invalid memory address or nil pointer dereference")
    if not isinstance(value, str):
        kind = go_kind(value)
        raise FunctionFailed(f"unable to parse {name} key, must be of type string, but {kind} found")
    return value


def _userinfo(text: str) -> str | None:
    if not text:
        return None
    try:
        return parse(f"proto://{text}@host").userinfo
    except InvalidUrl as error:
        raise FunctionFailed(f"unable to parse userinfo in dict: {error}") from None


def _authority_and_path(url_parts: dict[str, str], userinfo: str | None, before: str) -> str:
    host, path = url_parts["host"], escaped_path(url_parts["path"])
    authority = "//" if host or userinfo is not None or (url_parts["scheme"] and url_parts["path"]) else ""
    if userinfo is not None:
        authority += f"{userinfo}@"
    authority += escaped_host(host)
    if host and path and path[0] != "/":
        path = "/" + path
    if not before and not authority and ":" in path.partition("/")[0]:
        # A relative path must not be mistaken for a scheme.
        path = "./" + path
    return authority + path


def get_host_by_name(name: str) -> NoReturn:
    """Fail: the result of a Composition must not depend on the machine that renders it."""
    raise FunctionFailed(
        f"cannot look up {name}: templates have no network here; pass the address in the composite resource"
    )
