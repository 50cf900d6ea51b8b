"""CEL functions on IP addresses, address ranges and URLs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

TaggedMap = dict[str, str]


def ip(text: str) -> TaggedMap:
    """Read an IP address; zones and IPv4 addresses in IPv6 form are refused."""
    from ipaddress import ip_address

    try:
        address = ip_address(text)
    except ValueError:
        raise ValueError(
            f'IP Address "{text}" parse error during conversion from string: '
            f'ParseAddr("{text}"): unable to parse IP'
        ) from None
    if "%" in text:
        raise ValueError(f'IP address "{text}" with zone value is not allowed')
    if address.version == 6 and address.ipv4_mapped is not None:
        raise ValueError(f'IPv4-mapped IPv6 address "{text}" is not allowed')
    return {"ip": str(address)}


def is_ip(text: str) -> bool:
    """Return whether a text is an IP address."""
    return _succeeds(ip, text)


def is_canonical(text: str) -> bool:
    """Return whether an IP address is written in its canonical form."""
    return ip(text)["ip"] == text


def family(tagged: TaggedMap) -> int:
    """Return 4 or 6."""
    return int(_address(tagged).version)


def is_unspecified(tagged: TaggedMap) -> bool:
    """Return whether an address is 0.0.0.0 or ::."""
    return bool(_address(tagged).is_unspecified)


def is_loopback(tagged: TaggedMap) -> bool:
    """Return whether an address is a loopback address."""
    return bool(_address(tagged).is_loopback)


def is_link_local_multicast(tagged: TaggedMap) -> bool:
    """Return whether an address is a link-local multicast address."""
    return _is_in(tagged, "224.0.0.0/24", "ff02::/16")


def is_link_local_unicast(tagged: TaggedMap) -> bool:
    """Return whether an address is a link-local unicast address."""
    return bool(_address(tagged).is_link_local)


def is_global_unicast(tagged: TaggedMap) -> bool:
    """Return whether an address is a unicast address that is more than local, private ones included."""
    address = _address(tagged)
    broadcast = str(address) == "255.255.255.255"
    return not (
        broadcast
        or address.is_unspecified
        or address.is_loopback
        or address.is_multicast
        or address.is_link_local
    )


def cidr(text: str) -> TaggedMap:
    """Read an address range."""
    from ipaddress import ip_interface

    from crossply.schema import formats

    if not formats.is_cidr(text) or (":" not in text and not _is_plain(text)):
        raise ValueError(
            "network address parse error during conversion from string: "
            f'netip.ParsePrefix("{text}"): unable to parse'
        )
    return {"cidr": str(ip_interface(text))}


def is_cidr(text: str) -> bool:
    """Return whether a text is an address range."""
    return _succeeds(cidr, text)


def contains_ip(tagged: TaggedMap, address: TaggedMap | str) -> bool:
    """Return whether an address range has an address."""
    parsed = _address(ip(address) if isinstance(address, str) else address)
    network = _interface(tagged).network
    return network.version == parsed.version and parsed in network


def contains_cidr(tagged: TaggedMap, other: TaggedMap | str) -> bool:
    """Return whether an address range has all of another."""
    inner = _interface(cidr(other) if isinstance(other, str) else other).network
    outer = _interface(tagged).network
    return bool(inner.version == outer.version and inner.subnet_of(outer))


def text_of(tagged: TaggedMap) -> str:
    """Write an address or an address range."""
    if "ip" not in tagged and "cidr" not in tagged:
        raise ValueError("no such overload")
    return tagged.get("ip") or tagged["cidr"]


def cidr_ip(tagged: TaggedMap) -> TaggedMap:
    """Return the address of an address range."""
    return {"ip": str(_interface(tagged).ip)}


def prefix_length(tagged: TaggedMap) -> int:
    """Return how many bits an address range fixes."""
    return int(_interface(tagged).network.prefixlen)


def masked(tagged: TaggedMap) -> TaggedMap:
    """Return an address range with the bits that it does not fix set to zero."""
    return {"cidr": str(_interface(tagged).network)}


def url(text: str) -> TaggedMap:
    """Read a URL: an absolute URI or an absolute path."""
    from crossply.schema.uri_and_email_formats import is_request_uri

    if not is_request_uri(text):
        raise ValueError(
            f'URL parse error during conversion from string: parse "{text}": invalid URI for request'
        )
    return {"url": text}


def is_url(text: str) -> bool:
    """Return whether a text is a URL."""
    return _succeeds(url, text)


def url_part(name: str) -> Callable[[TaggedMap], str]:
    """Return a function that gives one part of a URL."""

    def part(tagged: TaggedMap) -> str:
        split = _split(tagged)
        host = split.netloc.rpartition("@")[2]
        if name == "host":
            return str(host)
        if name in ("hostname", "port"):
            return _host_and_port(host)[name == "port"]
        return str(getattr(split, name))

    return part


def url_query(tagged: TaggedMap) -> dict[str, list[str]]:
    """Return the query of a URL: every name with its values."""
    from urllib.parse import parse_qs

    return parse_qs(_split(tagged).query, keep_blank_values=True)


def _split(tagged: TaggedMap) -> Any:
    from urllib.parse import urlsplit

    if "url" not in tagged:
        raise ValueError("no such overload")
    return urlsplit(tagged["url"])


def _host_and_port(host: str) -> tuple[str, str]:
    if host.startswith("["):
        name, _, rest = host[1:].partition("]")
        return name, rest.removeprefix(":")
    name, _, port = host.partition(":")
    return name, port


def _address(tagged: TaggedMap) -> Any:
    from ipaddress import ip_address

    if "ip" not in tagged:
        raise ValueError("no such overload")
    return ip_address(tagged["ip"])


def _interface(tagged: TaggedMap) -> Any:
    from ipaddress import ip_interface

    if "cidr" not in tagged:
        raise ValueError("no such overload")
    return ip_interface(tagged["cidr"])


def _is_in(tagged: TaggedMap, four: str, six: str) -> bool:
    from ipaddress import ip_network

    address = _address(tagged)
    return address in ip_network(four if address.version == 4 else six)


def _is_plain(text: str) -> bool:
    return all(str(int(part)) == part for part in text.partition("/")[0].split("."))


def _succeeds(read: Callable[[str], TaggedMap], text: str) -> bool:
    try:
        read(text)
    except ValueError:
        return False
    return True
