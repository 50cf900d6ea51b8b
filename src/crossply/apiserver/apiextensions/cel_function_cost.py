"""The estimated cost of CEL function calls, and the size of their results."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from crossply.apiserver.apiextensions.cel_size_estimates import MOST, ONE, UNKNOWN, Range, fixed

if TYPE_CHECKING:
    from crossply.apiserver.apiextensions.cel_rule_cost import Argument, Estimator
    from crossply.schema.cel_ast import Node

Price = tuple[Range, Range | None]
"""The cost of a call without its arguments, and the size of its result if it is known."""
Pricer = Callable[["Estimator", "Argument | None", "list[Argument]", str], "Price | None"]

_TEXT, _PATTERN = 0.1, 0.25
_EQUALITY = frozenset(
    f"{order}_{kind}"
    for order in ("less", "greater", "less_equals", "greater_equals")
    for kind in ("string", "bytes")
) | {"equals", "not_equals"}
_OPAQUE = frozenset({"quantity", "semver", "ip", "cidr", "url", "add", "sub", "masked"})


def call_cost(
    estimator: Estimator,
    node: Node,
    overload: str,
    target: Argument | None,
    arguments: list[Argument],
    costs: list[Range],
) -> Price:
    """The cost of a call with its arguments, and the size of its result."""
    pricer = _BY_NAME.get(node.name)
    price = pricer(estimator, target, arguments, overload) if pricer else None
    if price is None:
        if overload in ("logical_or", "logical_and"):
            return Range(costs[0].low, costs[0].plus(costs[1]).high), None
        if overload == "conditional":
            estimator.set_entries(node, node.children[1], node.children[2])
            either = _size(arguments[1]).union(_size(arguments[2]))
            return costs[0].plus(costs[1].union(costs[2])), either
        if overload in ("add_string", "add_bytes", "add_list") and len(arguments) == 2:
            estimator.set_entries(node, node.children[0], node.children[1])
        price = _standard(overload, target, arguments)
    cost, size = price if price else (ONE, None)
    for function_cost in costs:
        cost = cost.plus(function_cost)
    return cost, size


def _size(argument: Argument) -> Range:
    return argument.size or UNKNOWN


def _standard(overload: str, target: Argument | None, arguments: list[Argument]) -> Price | None:
    if overload == "string_format" and target:
        return _size(target).by(_TEXT), None
    if overload == "in_list" and len(arguments) == 2:
        return _size(arguments[1]), None
    if overload in ("starts_with_string", "ends_with_string") and len(arguments) == 1:
        return _size(arguments[0]).by(_TEXT), None
    if overload == "matches_string" and target and len(arguments) == 1:
        text = _size(target).plus(ONE).by(_TEXT)
        return text.times(_size(arguments[0]).by(_PATTERN)), None
    if overload == "contains_string" and target and len(arguments) == 1:
        return _size(target).by(_TEXT).times(_size(arguments[0]).by(_TEXT)), None
    if overload in ("string_to_bytes", "bytes_to_string") and len(arguments) == 1:
        return _recoded(overload, _size(arguments[0]))
    if overload in ("add_string", "add_bytes", "add_list") and len(arguments) == 2:
        size = _size(arguments[0]).plus(_size(arguments[1]))
        return (ONE if overload == "add_list" else size.by(_TEXT)), size
    if overload in _EQUALITY and len(arguments) == 2:
        return _comparison(arguments), None
    return None


def _recoded(overload: str, size: Range) -> Price:
    if overload == "string_to_bytes":
        return size.by(_TEXT), Range(size.low, min(size.high * 4, MOST))
    return size.by(_TEXT), Range(size.low // 4, size.high)


def _comparison(arguments: list[Argument]) -> Range:
    if any(argument.node.kind == "call" and argument.node.name in _OPAQUE for argument in arguments):
        return ONE
    smaller = min(_size(arguments[0]).high, _size(arguments[1]).high)
    return Range(1 if smaller else 0, smaller).by(_TEXT)


def _nominal(*_: object) -> Price:
    return ONE, None


def _scan(
    estimator: Estimator, target: Argument | None, arguments: list[Argument], overload: str
) -> Price | None:
    """Functions that visit each item of a list, or each character of a string."""
    if target is None:
        return None
    if target.kind not in ("list", "map"):
        return _size(target).by(_TEXT), None
    item_cost = ONE
    element = estimator.declared((*target.path, "@items")) if target.path else None
    parameters = estimator.checked.type_of(target.node).parameters
    kind = element.kind if element else (parameters[0].kind if parameters else "")
    if kind in ("string", "bytes"):
        item_cost = item_cost.plus((Range(0, element.most) if element else UNKNOWN).by(_TEXT))
    return _size(target).times(item_cost), None


def _read_argument(factor: float, preserves_size: bool = False) -> Pricer:
    def price(
        estimator: Estimator, target: Argument | None, arguments: list[Argument], overload: str
    ) -> Price | None:
        if not arguments:
            return None
        size = _size(arguments[0])
        return size.by(factor), size if preserves_size else None

    return price


def _rewrite(
    estimator: Estimator, target: Argument | None, arguments: list[Argument], overload: str
) -> Price | None:
    if target is None:
        return None
    return _size(target).by(_TEXT), _size(target)


def _replace(
    estimator: Estimator, target: Argument | None, arguments: list[Argument], overload: str
) -> Price | None:
    if target is None or len(arguments) < 2:
        return None
    size, old, new = _size(target), _size(arguments[0]), _size(arguments[1])
    most, most_unchanged = _most_replaced(size.high, old.low, new.high)
    least, least_unchanged = _least_replaced(size.low, old.high, new.low)
    result = Range(least, most).times(new).plus(Range(least_unchanged, most_unchanged))
    return size.by(2 * _TEXT), result


def _most_replaced(size: int, shortest_old: int, longest_new: int) -> tuple[int, int]:
    """How often a string is replaced at most, and how much of the rest is unchanged."""
    if shortest_old == 0:
        return min(size + 1, MOST), size
    if longest_new <= shortest_old:
        return 0, size
    return -(-size // shortest_old), 0


def _least_replaced(size: int, longest_old: int, shortest_new: int) -> tuple[int, int]:
    if longest_old == 0:
        return min(size + 1, MOST), size
    if longest_old <= shortest_new:
        return 0, size
    return -(-size // longest_old), 0


def _split(
    estimator: Estimator, target: Argument | None, arguments: list[Argument], overload: str
) -> Price | None:
    if target is None:
        return None
    most = _size(target).high
    if len(arguments) > 1 and arguments[1].node.name == "int":
        most = max(int(arguments[1].node.value), 0)
    return _size(target).by(2 * _TEXT), Range(0, most)


def _join(
    estimator: Estimator, target: Argument | None, arguments: list[Argument], overload: str
) -> Price | None:
    if target is None:
        return None
    count = _size(target)
    element = estimator.declared((*target.path, "@items")) if target.path else None
    size = count.times(Range(0, element.most) if element else UNKNOWN)
    if arguments:
        between = Range(max(count.low - 1, 0), max(count.high - 1, 0))
        size = size.plus(_size(arguments[0]).times(between))
    return size.by(_TEXT), size


def _find(
    estimator: Estimator, target: Argument | None, arguments: list[Argument], overload: str
) -> Price | None:
    if target is None or not arguments:
        return None
    text = _size(target).plus(ONE).by(_TEXT)
    return text.times(_size(arguments[0]).by(_PATTERN)), Range(0, _size(target).high)


def _ip(
    estimator: Estimator, target: Argument | None, arguments: list[Argument], overload: str
) -> Price | None:
    if target is not None:
        return ONE, None
    return (_size(arguments[0]).by(_TEXT), None) if arguments else None


def _contains_address(network: bool) -> Pricer:
    def price(
        estimator: Estimator, target: Argument | None, arguments: list[Argument], overload: str
    ) -> Price | None:
        address = Range(4, 16)
        cost = address.plus(address).by(_TEXT)
        if network:
            cost = cost.plus(address.by(_TEXT)).plus(ONE)
        if arguments and overload.endswith("_ms"):
            cost = cost.plus(_size(arguments[0]).by(_TEXT))
        return cost, None

    return price


def _sets(factor: float) -> Pricer:
    def price(
        estimator: Estimator, target: Argument | None, arguments: list[Argument], overload: str
    ) -> Price | None:
        if len(arguments) != 2:
            return None
        return _size(arguments[0]).times(_size(arguments[1])).by(factor).plus(ONE), None

    return price


def _new_list(factor: float, size: Range) -> Price:
    return size.by(factor).plus(ONE).plus(fixed(10)), size


def _constant_int(argument: Argument | None, otherwise: int) -> int:
    if argument is None or argument.node.kind != "const" or argument.node.name != "int":
        return otherwise
    return max(int(argument.node.value), 0)


def _slice(
    estimator: Estimator, target: Argument | None, arguments: list[Argument], overload: str
) -> Price | None:
    if target is None or len(arguments) != 2:
        return None
    start, end = _constant_int(arguments[0], 0), _constant_int(arguments[1], _size(target).high)
    return _new_list(1, fixed(max(end - start, 0)))


def _flatten(
    estimator: Estimator, target: Argument | None, arguments: list[Argument], overload: str
) -> Price | None:
    if target is None:
        return None
    return _new_list(float(_constant_int(arguments[0], MOST) if arguments else 1), _size(target))


def _reverse(
    estimator: Estimator, target: Argument | None, arguments: list[Argument], overload: str
) -> Price | None:
    return _new_list(1, _size(target)) if target is not None and target.kind == "list" else None


def _range(
    estimator: Estimator, target: Argument | None, arguments: list[Argument], overload: str
) -> Price | None:
    return _new_list(1, fixed(_constant_int(arguments[0], MOST))) if arguments else None


def _pairwise(
    estimator: Estimator, target: Argument | None, arguments: list[Argument], overload: str
) -> Price | None:
    return _new_list(2.0, _size(target).times(_size(target))) if target else None


_BY_NAME: dict[str, Pricer] = {
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _scan),
    **dict.fromkeys(("indexOfItem", "lastIndexOfItem"), _scan),
    "url": _read_argument(_TEXT, preserves_size=True),
    **dict.fromkeys(("lowerAscii", "upperAscii", "substring", "trim"), _rewrite),
    "replace": _replace,
    "split": _split,
    "join": _join,
    **dict.fromkeys(("find", "findAll"), _find),
    **dict.fromkeys(("cidr", "isIP", "isCIDR"), _read_argument(_TEXT)),
    "ip": _ip,
    "ip.isCanonical": _read_argument(2 * _TEXT),
    **dict.fromkeys(("quantity", "isQuantity", "semver", "isSemver"), _read_argument(_TEXT)),
    "containsIP": _contains_address(network=False),
    "containsCIDR": _contains_address(network=True),
    **dict.fromkeys(("masked", "prefixLength", "family", "isUnspecified", "isLoopback"), _nominal),
    **dict.fromkeys(("isLinkLocalMulticast", "isLinkLocalUnicast", "isGlobalUnicast"), _nominal),
    **dict.fromkeys(("sign", "asInteger", "isInteger", "asApproximateFloat", "isGreaterThan"), _nominal),
    **dict.fromkeys(("isLessThan", "compareTo", "add", "sub", "major", "minor", "patch"), _nominal),
    **dict.fromkeys(("getScheme", "getHostname", "getHost", "getPort", "getEscapedPath"), _nominal),
    "getQuery": _nominal,
    "sets.contains": _sets(1),
    "sets.intersects": _sets(1),
    "sets.equivalent": _sets(2),
    "slice": _slice,
    "flatten": _flatten,
    "reverse": _reverse,
    "reverseItems": _reverse,
    "lists.range": _range,
    **dict.fromkeys(("distinct", "sort"), _pairwise),
}
