"""Where a service of the cluster is reached from this process: by its external name, or by an endpoint."""

from __future__ import annotations

from crossply.apiserver.apiextensions.webhook_converter import Address, FindService
from crossply.apiserver.endpoints.body_decoding import decode
from crossply.apiserver.storage import Store
from crossply.values import Object


def service_lookup(store: Store) -> FindService:
    """Find services among the stored ones."""

    def find(namespace: str, name: str, port: int) -> Address | None:
        service = _load(store, ("services", namespace, name))
        if service is None:
            return None
        spec = service.get("spec") or {}
        if spec.get("type") == "ExternalName":
            return Address(spec.get("externalName") or "", port)
        wanted = next((each for each in spec.get("ports") or () if each.get("port") == port), None)
        return _endpoint(_load(store, ("endpoints", namespace, name)), wanted) if wanted else None

    return find


def _load(store: Store, key: tuple[str, str, str]) -> Object | None:
    entry = store.get(key)
    return decode(entry.data) if entry is not None else None


def _endpoint(endpoints: Object | None, wanted: Object) -> Address | None:
    for subset in (endpoints or {}).get("subsets") or ():
        ports = [
            each["port"]
            for each in subset.get("ports") or ()
            if not wanted.get("name") or each.get("name") == wanted["name"]
        ]
        for address in subset.get("addresses") or ():
            if ports and address.get("ip"):
                return Address(address["ip"], ports[0])
    return None
