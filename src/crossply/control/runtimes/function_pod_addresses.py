"""Where the Pods of functions are, according to the API server: no name has to be resolved.

DNS tells of new replicas only those who ask again, and gRPC asks when a connection breaks. The EndpointSlices
of a Service are watched instead: new replicas are called as soon as they are ready, and those that go are
called no more. It also works where the names of Services mean nothing, such as outside of the cluster.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import orjson

from crossply.compose.object_metadata import labels_of
from crossply.control.runtimes.mutual_tls_certificates import NoCredentials
from crossply.functions.channels import NOWHERE, Address
from crossply.kube.core_kinds import ENDPOINT_SLICE
from crossply.kube.informer import Informer
from crossply.kube.list_options import Selection
from crossply.kube.shared_informers import SharedInformers
from crossply.kube.watch import Key
from crossply.values import Object

SERVICE_NAME = "kubernetes.io/service-name"
_ENDPOINT = re.compile(r"dns:///(?P<service>[^./:]+)\.(?P<namespace>[^./:]+):(?P<port>\d+)")
_SCHEMES = {"IPv4": "ipv4:", "IPv6": "ipv6:"}


class FunctionAddresses:
    """The addresses of all Services in one namespace."""

    def __init__(self, namespace: str) -> None:
        self._namespace = namespace
        self._addresses: dict[str, tuple[str, ...]] = {}
        """By Service. Each tuple is replaced and never changed: other threads read it."""

    async def watch(self, caches: SharedInformers) -> None:
        """Load the addresses, and watch them from now on."""
        cache = caches.acquire(ENDPOINT_SLICE, Selection(self._namespace))
        why = await cache.sync_problem()
        if why:
            raise NoCredentials(f"cannot follow EndpointSlices: {why}", hint="grant the right to watch them")
        cache.add_index(SERVICE_NAME, _service_of)
        cache.subscribe(lambda change, key, old, new: self._handle_event(cache, key, old, new))
        for service in {name for data in cache.objects() for name in _service_of(orjson.loads(data))}:
            self._gather(cache, service)

    def where(self, endpoint: str) -> Callable[[], Address] | None:
        """A function that returns the current address of an endpoint; None if it is no Service here."""
        match = _ENDPOINT.fullmatch(endpoint)
        if match is None or match["namespace"] != self._namespace:
            return None
        service, authority = match["service"], f"{match['service']}.{self._namespace}"

        def resolve() -> Address:
            addresses = self._addresses.get(service)
            if not addresses:
                return NOWHERE
            scheme = _SCHEMES["IPv6" if addresses[0].startswith("[") else "IPv4"]
            return Address(scheme + ",".join(addresses), authority)

        return resolve

    def _handle_event(self, cache: Informer, key: Key, old: bytes | None, new: bytes | None) -> None:
        for data in (old, new):
            for service in () if data is None else _service_of(orjson.loads(data)):
                self._gather(cache, service)

    def _gather(self, cache: Informer, service: str) -> None:
        slices = [orjson.loads(data) for data in cache.by(SERVICE_NAME, service)]
        self._addresses[service] = tuple(sorted({address for slice_ in slices for address in _ready(slice_)}))


def _service_of(slice_: Object) -> tuple[str, ...]:
    name = labels_of(slice_).get(SERVICE_NAME)
    return (name,) if name else ()


def _ready(slice_: Object) -> list[str]:
    """The addresses in a slice that can be called, with their port."""
    ports = [port["port"] for port in slice_.get("ports") or () if port.get("port")]
    if not ports or slice_.get("addressType") not in _SCHEMES:
        return []
    shape = "[{}]:{}" if slice_["addressType"] == "IPv6" else "{}:{}"
    return [
        shape.format(address, ports[0])
        for endpoint in slice_.get("endpoints") or ()
        # Not known counts as ready, says the API.
        if (endpoint.get("conditions") or {}).get("ready") is not False
        for address in endpoint.get("addresses") or ()
    ]
