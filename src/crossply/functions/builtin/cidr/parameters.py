"""The input of function-cidr (`cidr.fn.crossplane.io/v1beta1`, kind Parameters) and its validation."""

from __future__ import annotations

from typing import Any

from crossply.compose.function_messages import Request
from crossply.functions.builtin.cidr.networks import NetworkError, parse_network, shortened
from crossply.functions.builtin.cidr.value_sources import SourceError, Sources
from crossply.functions.builtin.input_decoder import OBJECT, array, decode, signed_integer, struct, text
from crossply.values import Object

HOST, NETMASK, SUBNET, SUBNETS = "cidrhost", "cidrnetmask", "cidrsubnet", "cidrsubnets"
SUBNET_LOOP, MULTI_PREFIX = "cidrsubnetloop", "multiprefixloop"

_GO_TYPE = "v1beta1.Parameters"
_INT = signed_integer("int")
_BITS = array("[]int", _INT, 0)
_PREFIX = struct("v1beta1.MultiPrefix", {"prefix": text(), "newBits": _BITS, "offset": _INT})
_TEXTS = (
    "cidrFunc",
    "cidrFuncField",
    "multiPrefixField",
    "prefixField",
    "prefix",
    "hostNumField",
    "newBitsField",
    "netNumField",
    "netNumCountField",
    "netNumItemsField",
    "offsetField",
    "outputField",
)
_INPUT = struct(
    _GO_TYPE,
    {
        **OBJECT,
        **dict.fromkeys(_TEXTS, text()),
        "multiPrefix": array("[]v1beta1.MultiPrefix", _PREFIX, {}),
        "hostNum": _INT,
        "newBits": _BITS,
        "netNum": signed_integer("int64"),
        "netNumCount": signed_integer("int64"),
        "netNumItems": array("[]string", text(), ""),
        "offset": _INT,
    },
)


class ParameterError(Exception):
    """The parameters are invalid. It never leaves the function: it becomes a fatal result."""

    def __str__(self) -> str:
        return f"parameters: Required value: {self.args[0]}"


def read_parameters(request: Request) -> Object:
    """The decoded input; raises InputError."""
    return decode(request, _INPUT, _GO_TYPE)


def validate(parameters: Object, sources: Sources) -> str:
    """The calculation to make; raises ParameterError."""
    calculation = _calculation(parameters, sources)
    if calculation != MULTI_PREFIX:
        _validate_prefix(parameters, sources)
    if not calculation:
        raise ParameterError("cidrFunc is required")
    check = _CHECKS.get(calculation)
    if check is None:
        raise ParameterError(f"unexpected cidrFunc {shortened(calculation)}")
    check(parameters, sources)
    return calculation


def _calculation(parameters: Object, sources: Sources) -> str:
    path = parameters.get("cidrFuncField", "")
    if not path:
        calculation: str = parameters.get("cidrFunc", "")
        return calculation
    try:
        return sources.text(path)
    except SourceError:
        raise ParameterError(f"cannot get cidrFunc at cidrFuncField {path}") from None


def _validate_prefix(parameters: Object, sources: Sources) -> None:
    prefix, path = parameters.get("prefix", ""), parameters.get("prefixField", "")
    if prefix and path:
        raise ParameterError("specify only one of prefix or prefixField to avoid ambiguous function input")
    if not prefix and not path:
        raise ParameterError("either prefix or prefixField function input is required")
    if not prefix:
        try:
            prefix = sources.prefix(path)
        except SourceError as error:
            raise ParameterError(f"cannot get prefix at prefixField {path}: {error}") from None
    _validate_network(prefix)


def _validate_network(prefix: str) -> None:
    try:
        parse_network(prefix)
    except NetworkError:
        raise ParameterError(f"invalid CIDR prefix address {shortened(prefix)}") from None


def _validate_host(parameters: Object, sources: Sources) -> None:
    number, path = parameters.get("hostNum", 0), parameters.get("hostNumField", "")
    if number > 0 and path:
        raise ParameterError("specify only one of hostnum or hostnumfield to avoid ambiguous function input")
    if number:
        return
    if not path:
        raise ParameterError("either hostnum or hostnumfield function input is required")
    try:
        sources.integer(path)
    except SourceError:
        raise ParameterError(f"cannot get hostnum at hostnumfield {path}") from None


def _validate_netmask(parameters: Object, sources: Sources) -> None:
    """A netmask takes nothing but its prefix."""


def _validate_subnet(parameters: Object, sources: Sources) -> None:
    bits, path = parameters.get("newBits", []), parameters.get("newBitsField", "")
    if bits and path:
        raise ParameterError("specify only one of newbits or newbitsfield to avoid ambiguous function input")
    if not bits and not path:
        raise ParameterError("either newbits or newbitsfield function input is required")
    if not path and len(bits) != 1:
        raise ParameterError("cidrFunc cidrsubnet requires exactly 1 parameter in the array")
    if parameters.get("netNum", 0) > 0 and parameters.get("netNumField"):
        raise ParameterError("cidrFunc cidrsubnet requires either one of netnum or netnumfield")


def _validate_subnets(parameters: Object, sources: Sources) -> None:
    path = parameters.get("newBitsField", "")
    if parameters.get("newBits") and path:
        raise ParameterError("cidrFunc cidrsubnets requires either one of newbits or newbitsfield")
    if path:
        try:
            sources.bits(path)
        except SourceError:
            raise ParameterError(f"cannot get newbits at newbitsfield {path}") from None


def _validate_subnet_loop(parameters: Object, sources: Sources) -> None:
    has: Any = parameters.get
    has_count = has("netNumCount", 0) > 0
    if has_count and has("netNumCountField"):
        raise ParameterError(
            "cidrFunc cidrsubnetloop requires either one of netnumcount or netnumcountfield, "
            "but only if nonetnumitems or netnumitemsfield have been specified"
        )
    if has("netNumItems") and has("netNumItemsField"):
        raise ParameterError(
            "cidrFunc cidrsubnetloop requires either one of netnumitems or netnumitemsfield, "
            "but only if nonetnumcount or netnumcountfield have been specified"
        )
    if (has_count or has("netNumCountField")) and (has("netNumItems") or has("netNumItemsField")):
        raise ParameterError(
            "cidrFunc cidrsubnetloop requires either one of netnumitems or netnumitemsfield, "
            "or mutually exclusive one of netnumcount or netnumcountfield, but not both counts and items"
        )
    if has("newBits") and has("newBitsField"):
        raise ParameterError("cidrFunc cidrsubnetloop requires either one of newbits or newbitsfield")
    if has("offset", 0) > 0 and has("offsetField"):
        raise ParameterError("cidrFunc cidrsubnetloop requires either one of offset or offsetfield")


def _validate_multi_prefix(parameters: Object, sources: Sources) -> None:
    prefixes, path = parameters.get("multiPrefix", []), parameters.get("multiPrefixField", "")
    if prefixes and path:
        raise ParameterError(
            "specify only one of multiPrefix or multiPrefixField to avoid ambiguous function input"
        )
    if not prefixes and not path:
        raise ParameterError("either multiPrefix or multiPrefixField function input is required")
    if not prefixes:
        try:
            prefixes = sources.prefixes(path)
        except SourceError:
            raise ParameterError(f"cannot get multiPrefixes at multiPrefixField {path}") from None
    for prefix in prefixes:
        _validate_network(prefix.get("prefix", ""))
        if not prefix.get("newBits"):
            raise ParameterError("newBits is required for each prefix in multiPrefixField")


_CHECKS = {
    HOST: _validate_host,
    NETMASK: _validate_netmask,
    SUBNET: _validate_subnet,
    SUBNETS: _validate_subnets,
    SUBNET_LOOP: _validate_subnet_loop,
    MULTI_PREFIX: _validate_multi_prefix,
}
