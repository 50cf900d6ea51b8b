"""Arithmetic with networks in CIDR notation, with the results and errors of the published function.

Addresses are integers. An address in an IPv4-mapped IPv6 network (`::ffff:10.0.0.0/104`) is written as Go
writes it: in the notation of IPv4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from crossply.functions.reply_limits import check_deadline, current_limits

_IPV4, _IPV6 = 32, 128
_NAMES = {_IPV4: "IPv4", _IPV6: "IPv6"}
_MAPPED = 0xFFFF
"""The bits before the last 32 of an IPv4 address that is mapped into IPv6."""

_MAX_EXTENSION = 32
_MAX_PREFIX_DIGITS = 8
_LONGEST_ADDRESS = 45
_UINT64 = 2**64
_CHECK_EVERY = 256


class NetworkError(Exception):
    """A network cannot be parsed or calculated. It never leaves the function: it becomes a fatal result."""


class Network(NamedTuple):
    """The addresses that share a prefix."""

    first: int
    prefix: int
    bits: int
    """How many bits an address has."""

    @property
    def last(self) -> int:
        return self.first | _suffix(self.bits - self.prefix)

    def __contains__(self, address: object) -> bool:
        return isinstance(address, int) and self.first <= address <= self.last

    def __str__(self) -> str:
        is_mapped = _is_mapped(self.first, self.bits) and self.prefix >= _IPV6 - _IPV4
        prefix = self.prefix - (_IPV6 - _IPV4) if is_mapped else self.prefix
        return f"{format_address(self.first, self.bits)}/{prefix}"


def parse_network(text: str) -> Network:
    """The network of an address in it; raises NetworkError."""
    address, slash, digits = text.partition("/")
    if not slash or not (digits.isascii() and digits.isdigit()) or len(digits) > _MAX_PREFIX_DIGITS:
        raise NetworkError(f"invalid CIDR address: {shortened(text)}")
    parsed, prefix = _parse_address(address), int(digits)
    if parsed is None or prefix > parsed[1]:
        raise NetworkError(f"invalid CIDR address: {shortened(text)}")
    number, bits = parsed
    return Network(number & ~_suffix(bits - prefix), prefix, bits)


def shortened(text: str) -> str:
    """The text as errors show it: users' fields may be megabytes long."""
    return text if len(text) <= 100 else f"{text[:100]}..."


def _parse_address(text: str) -> tuple[int, int] | None:
    from ipaddress import ip_address

    if len(text) > _LONGEST_ADDRESS or "%" in text:
        return None
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return int(address), address.max_prefixlen


def format_address(address: int, bits: int) -> str:
    if bits == _IPV4 or _is_mapped(address, bits):
        return ".".join(str(address >> shift & 0xFF) for shift in (24, 16, 8, 0))
    from ipaddress import IPv6Address

    return IPv6Address(address).compressed


def _is_mapped(address: int, bits: int) -> bool:
    return bits == _IPV6 and address >> _IPV4 == _MAPPED


def _suffix(length: int) -> int:
    """So many one bits."""
    return (1 << length) - 1


def netmask(network: Network) -> str:
    """The netmask of a network, in the notation of its addresses."""
    mask = _suffix(network.bits) & ~_suffix(network.bits - network.prefix)
    return format_address(mask, network.bits)


def host(network: Network, number: int) -> str:
    """The address with a number in a network; negative numbers count from its end."""
    most = _suffix(network.bits - network.prefix)
    distance = number if number >= 0 else -number - 1
    if distance > most:
        raise NetworkError(f"prefix of {network.prefix} does not accommodate a host numbered {number}")
    offset = number if number >= 0 else most - distance
    return format_address(network.first | offset, network.bits)


def subnet(network: Network, new_bits: int, number: int) -> Network:
    """The subnet with a number, its prefix longer by so many bits."""
    prefix = network.prefix + new_bits
    if prefix > network.bits:
        raise NetworkError(
            f"insufficient address space to extend prefix of {network.prefix} by {shortened(str(new_bits))}"
        )
    if prefix < 0 or number < 0:
        raise NetworkError(f"prefix extension {new_bits} and subnet number {number} must not be negative")
    if new_bits >= 0 and number >= min(1 << new_bits, _UINT64):
        raise NetworkError(f"prefix extension of {new_bits} does not accommodate a subnet numbered {number}")
    return Network(network.first | number << (network.bits - prefix), prefix, network.bits)


def subnets(network: Network, extensions: Sequence[int]) -> Iterator[Network]:
    """Consecutive subnets, the prefix of each longer by its number of bits."""
    limits = current_limits()
    current: Network | None = None
    for index, extension in enumerate(extensions):
        if index % _CHECK_EVERY == 0:
            check_deadline(limits)
        prefix = _extended(network, extension)
        if current is None:
            current = _before(network, prefix)
        current = _next(network, current, prefix)
        yield current


def _extended(network: Network, extension: int) -> int:
    if extension < 1:
        raise NetworkError("must extend prefix by at least one bit")
    if extension > _MAX_EXTENSION:
        raise NetworkError(f"may not extend prefix by more than {_MAX_EXTENSION} bits")
    prefix = network.prefix + extension
    if prefix > network.bits:
        raise NetworkError(
            f"would extend prefix to {prefix} bits, which is too long for an {_NAMES[network.bits]} address"
        )
    return prefix


def _before(network: Network, prefix: int) -> Network:
    """The subnet before a network; before the first address comes the last."""
    last = (network.first or 1 << network.bits) - 1
    return Network(last & ~_suffix(network.bits - prefix), prefix, network.bits)


def _next(network: Network, current: Network, prefix: int) -> Network:
    """The first subnet after the current one that is aligned to its own size."""
    first = (current.last | _suffix(network.bits - prefix)) + 1
    # The published function counts a network that starts at the first address as used up, too.
    if first >> network.bits or first not in network:
        raise NetworkError(
            f"not enough remaining address space for a subnet with a prefix of {prefix} bits after {current}"
        )
    return Network(first, prefix, network.bits)
