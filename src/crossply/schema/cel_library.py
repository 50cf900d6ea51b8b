"""The functions that Kubernetes adds to CEL: quantities, addresses, URLs, expressions, lists, sets, versions.

The evaluator has no way to hold a value of a type that is written in Python, so quantities, addresses and the
like are maps with one well-known key, written in a canonical form: equal values are equal maps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from crossply.schema import cel_lists, cel_network, cel_quantity, cel_semver
from crossply.values.regexp import compile_go


class Overload(NamedTuple):
    """One way to call a function: the kinds of its arguments and of its result.

    A kind is s(tring), i(nt), d(ouble), b(ool), m(ap), l(ist), t (a list of texts) or a (anything).
    """

    name: str
    arguments: str
    result: str
    call: Callable[..., Any]
    is_member: bool = True


def find(text: str, pattern: str) -> str:
    """Return the first match of a pattern, or an empty text."""
    match = _compiled(pattern).search(text)
    return str(match[0]) if match else ""


def find_all(text: str, pattern: str, most: int = -1) -> list[str]:
    """Return the matches of a pattern, at most so many."""
    matches = [str(match[0]) for match in _compiled(pattern).finditer(text)]
    return matches if most < 0 else matches[:most]


def _compiled(pattern: str) -> Any:
    from crossply.errors import CrossplyError

    try:
        return compile_go(pattern)
    except CrossplyError as problem:
        raise ValueError(f"Illegal regex: {problem}") from None


_OVERLOADS = (
    Overload("find", "ss", "s", find),
    Overload("findAll", "ss", "t", find_all),
    Overload("findAll", "ssi", "t", find_all),
    Overload("isSorted", "l", "b", cel_lists.is_sorted),
    Overload("sum", "l", "a", cel_lists.total),
    Overload("min", "l", "a", cel_lists.smallest),
    Overload("max", "l", "a", cel_lists.largest),
    # The evaluator finds no overload for an argument of any kind, so every kind has its own.
    *(Overload("indexOfItem", f"l{kind}", "i", cel_lists.index_of) for kind in "sidbml"),
    *(Overload("lastIndexOfItem", f"l{kind}", "i", cel_lists.last_index_of) for kind in "sidbml"),
    Overload("reverseItems", "l", "l", lambda items: items[::-1]),
    Overload("stringOfAddress", "m", "s", cel_network.text_of, False),
    Overload("distinct", "l", "l", cel_lists.distinct),
    Overload("flatten", "l", "l", cel_lists.flatten),
    Overload("flatten", "li", "l", cel_lists.flatten),
    Overload("slice", "lii", "l", cel_lists.part),
    Overload("sort", "l", "l", sorted),
    Overload("lists.range", "i", "l", cel_lists.numbers, False),
    Overload("sets.contains", "ll", "b", cel_lists.contains, False),
    Overload("sets.equivalent", "ll", "b", cel_lists.equivalent, False),
    Overload("sets.intersects", "ll", "b", cel_lists.intersects, False),
    Overload("quantity", "s", "m", cel_quantity.quantity, False),
    Overload("isQuantity", "s", "b", cel_quantity.is_quantity, False),
    Overload("sign", "m", "i", cel_quantity.sign, False),
    Overload("isInteger", "m", "b", cel_quantity.is_integer),
    Overload("asInteger", "m", "i", cel_quantity.as_integer),
    Overload("asApproximateFloat", "m", "d", cel_quantity.as_float),
    Overload("add", "mm", "m", cel_quantity.add),
    Overload("add", "mi", "m", cel_quantity.add),
    Overload("sub", "mm", "m", cel_quantity.subtract),
    Overload("sub", "mi", "m", cel_quantity.subtract),
    Overload("isGreaterThan", "mm", "b", lambda one, other: _compare(one, other) > 0),
    Overload("isLessThan", "mm", "b", lambda one, other: _compare(one, other) < 0),
    Overload("compareTo", "mm", "i", lambda one, other: _compare(one, other)),
    Overload("semver", "s", "m", cel_semver.semver, False),
    Overload("semver", "sb", "m", cel_semver.semver, False),
    Overload("isSemver", "s", "b", cel_semver.is_semver, False),
    Overload("isSemver", "sb", "b", cel_semver.is_semver, False),
    Overload("major", "m", "i", cel_semver.major),
    Overload("minor", "m", "i", cel_semver.minor),
    Overload("patch", "m", "i", cel_semver.patch),
    Overload("ip", "s", "m", cel_network.ip, False),
    Overload("isIP", "s", "b", cel_network.is_ip, False),
    Overload("ip.isCanonical", "s", "b", cel_network.is_canonical, False),
    Overload("family", "m", "i", cel_network.family),
    Overload("isUnspecified", "m", "b", cel_network.is_unspecified),
    Overload("isLoopback", "m", "b", cel_network.is_loopback),
    Overload("isLinkLocalMulticast", "m", "b", cel_network.is_link_local_multicast),
    Overload("isLinkLocalUnicast", "m", "b", cel_network.is_link_local_unicast),
    Overload("isGlobalUnicast", "m", "b", cel_network.is_global_unicast),
    Overload("cidr", "s", "m", cel_network.cidr, False),
    Overload("isCIDR", "s", "b", cel_network.is_cidr, False),
    Overload("containsIP", "ms", "b", cel_network.contains_ip),
    Overload("containsIP", "mm", "b", cel_network.contains_ip),
    Overload("containsCIDR", "ms", "b", cel_network.contains_cidr),
    Overload("containsCIDR", "mm", "b", cel_network.contains_cidr),
    Overload("ip", "m", "m", cel_network.cidr_ip),
    Overload("prefixLength", "m", "i", cel_network.prefix_length),
    Overload("masked", "m", "m", cel_network.masked),
    Overload("url", "s", "m", cel_network.url, False),
    Overload("isURL", "s", "b", cel_network.is_url, False),
    Overload("getScheme", "m", "s", cel_network.url_part("scheme")),
    Overload("getHost", "m", "s", cel_network.url_part("host")),
    Overload("getHostname", "m", "s", cel_network.url_part("hostname")),
    Overload("getPort", "m", "s", cel_network.url_part("port")),
    Overload("getEscapedPath", "m", "s", cel_network.url_part("path")),
    Overload("getQuery", "m", "m", cel_network.url_query),
)


def _compare(one: dict[str, str], other: dict[str, str]) -> int:
    if "semver" in one:
        return cel_semver.compare(one, other)
    return cel_quantity.compare(one, other)


def declarations() -> list[Any]:
    """Return the library as the evaluator takes it."""
    from cel_expr_python import cel

    kinds = {
        "s": cel.Type.STRING,
        "i": cel.Type.INT,
        "d": cel.Type.DOUBLE,
        "b": cel.Type.BOOL,
        "m": cel.Type.Map(cel.Type.STRING, cel.Type.DYN),
        "l": cel.Type.List(cel.Type.DYN),
        "t": cel.Type.List(cel.Type.STRING),
        "a": cel.Type.DYN,
    }
    functions: dict[str, list[Any]] = {}
    for overload in _OVERLOADS:
        arguments = [kinds[kind] for kind in overload.arguments]
        name = f"k8s_{overload.name}_{overload.arguments}".replace(".", "_")
        functions.setdefault(overload.name, []).append(
            cel.Overload(
                name, kinds[overload.result], arguments, is_member=overload.is_member, impl=overload.call
            )
        )
    return [cel.FunctionDecl(name, overloads) for name, overloads in functions.items()]
