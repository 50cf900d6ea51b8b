"""The entry point of function-cidr: calculate, and write the result to a field of the desired XR."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from crossply.compose.function_messages import Request, Resource, Response, State, fatal, respond
from crossply.functions.builtin.cidr import parameters as names
from crossply.functions.builtin.cidr.networks import (
    NetworkError,
    host,
    netmask,
    parse_network,
    subnet,
    subnets,
)
from crossply.functions.builtin.cidr.parameters import ParameterError, read_parameters, validate
from crossply.functions.builtin.cidr.value_sources import SourceError, Sources
from crossply.functions.builtin.input_decoder import InputError
from crossply.functions.reply_limits import check_deadline, current_limits
from crossply.values import Object
from crossply.values.deepcopy import deepcopy
from crossply.values.field_path import PathError, set_value
from crossply.values.goformat import sprintf

MAX_SUBNETS = 65_536
"""How many subnets one step may calculate."""

_Value = TypeVar("_Value")
_DEFAULT_FIELD = "status.atFunction.cidr"
_CHECK_EVERY = 256


class _StepError(Exception):
    """The step cannot be calculated. It becomes a fatal result."""


def run(request: Request) -> Response:
    sources = Sources(request)
    try:
        parameters = read_parameters(request)
        calculation = validate(parameters, sources)
    except InputError as error:
        return fatal(request, f"cannot get Function input: {error}")
    except ParameterError as error:
        return fatal(request, f"invalid Function input: {error}")
    try:
        value = _CALCULATIONS[calculation](_Step(parameters, sources))
        composite = _with_value(request, sources, parameters.get("outputField") or _DEFAULT_FIELD, value)
    except _StepError as error:
        return fatal(request, str(error))
    return respond(request, desired=State(composite, request.desired.resources))


class _Step:
    """The parameters of one calculation, read from the input or from the fields that it names."""

    def __init__(self, parameters: Object, sources: Sources) -> None:
        self._parameters = parameters
        self._sources = sources

    @property
    def kind(self) -> str:
        return self._sources.kind

    def prefix(self) -> str:
        path = self._parameters.get("prefixField", "")
        return self._sources.prefix(path) if path else self._parameters["prefix"]

    def integer(self, name: str) -> int:
        return self._read(name, "for", self._sources.integer, 0)

    def bits(self) -> list[int]:
        return self._read("newBits", "of", self._sources.bits, [])

    def items(self) -> list[str]:
        return self._read("netNumItems", "for", self._sources.items, [])

    def prefixes(self) -> list[Object]:
        return self._read("multiPrefix", "for", self._sources.prefixes, [])

    def has_field(self, name: str) -> bool:
        return bool(self._parameters.get(f"{name}Field"))

    def _read(self, name: str, relation: str, read: Callable[[str], _Value], default: _Value) -> _Value:
        path = self._parameters.get(f"{name}Field", "")
        if not path:
            value: _Value = self._parameters.get(name, default)
            return value
        try:
            return read(path)
        except SourceError as error:
            raise _StepError(
                f"cannot get {name.lower()} from field {path} {relation} {self.kind}: {error}"
            ) from None

    def failed(self, noun: str, error: Exception) -> _StepError:
        return _StepError(f"cannot calculate {noun} for {self.kind}: {error}")


def _host(step: _Step) -> str:
    number = step.integer("hostNum")
    try:
        return host(parse_network(step.prefix()), number)
    except NetworkError as error:
        raise step.failed("CIDR host number", error) from None


def _netmask(step: _Step) -> str:
    return netmask(parse_network(step.prefix()))


def _subnet(step: _Step) -> str:
    return _numbered_subnets(step, step.bits(), [step.integer("netNum")])[0]


def _subnets(step: _Step) -> list[str] | None:
    return _consecutive_subnets(step, step.prefix(), step.bits()) or None


def _subnet_loop(step: _Step) -> list[str] | None:
    bits, offset = step.bits(), step.integer("offset")
    count = max(step.integer("netNumCount"), 0)
    if not step.has_field("netNumCount"):
        count = max(count, len(step.items()))
    _refuse_many(count)
    return _numbered_subnets(step, bits, range(offset, offset + count)) or None


def _numbered_subnets(step: _Step, bits: list[int], numbers: Sequence[int]) -> list[str]:
    limits = current_limits()
    network = parse_network(step.prefix())
    calculated: list[str] = []
    try:
        for index, number in enumerate(numbers):
            if index % _CHECK_EVERY == 0:
                check_deadline(limits)
            if not bits:
                raise NetworkError("newBits is empty")
            calculated.append(str(subnet(network, bits[0], number)))
    except NetworkError as error:
        raise step.failed("subnet CIDR", error) from None
    return calculated


def _multi_prefix(step: _Step) -> dict[str, list[str]]:
    prefixes = step.prefixes()
    _refuse_many(sum(len(prefix.get("newBits", ())) + 1 for prefix in prefixes))
    calculated: dict[str, list[str]] = {}
    for entry in prefixes:
        prefix, bits, offset = entry["prefix"], entry["newBits"], entry.get("offset", 0)
        # The offset is a subnet before the others that is left out.
        extensions = [offset, *bits] if offset > 0 else bits
        result = _consecutive_subnets(step, prefix, extensions)
        calculated[prefix] = result[1:] if offset > 0 else result
    return calculated


def _consecutive_subnets(step: _Step, prefix: str, extensions: list[int]) -> list[str]:
    _refuse_many(len(extensions))
    try:
        return [str(network) for network in subnets(parse_network(prefix), extensions)]
    except NetworkError as error:
        raise step.failed("Subnet CIDRs", error) from None


def _refuse_many(count: int) -> None:
    if count > MAX_SUBNETS:
        raise _StepError(f"cannot calculate {count} subnets in one step: the limit is {MAX_SUBNETS}")


_CALCULATIONS: dict[str, Callable[[_Step], Any]] = {
    names.HOST: _host,
    names.NETMASK: _netmask,
    names.SUBNET: _subnet,
    names.SUBNETS: _subnets,
    names.SUBNET_LOOP: _subnet_loop,
    names.MULTI_PREFIX: _multi_prefix,
}


def _with_value(request: Request, sources: Sources, field: str, value: Any) -> Resource:
    """The desired XR with a value at a field path, and with the type of the observed one."""
    desired = request.desired.composite or Resource({})
    composite: Object = deepcopy(desired.object)
    composite.update(sources.xr_type)
    try:
        set_value(composite, field, value)
    except PathError as error:
        shown = sprintf("%s", [value])
        raise _StepError(f"cannot set field {field} to {shown} for {sources.kind}: {error}") from None
    # Whether the XR is ready is not passed on, as in the published function.
    return Resource(composite, desired.connection_details)
