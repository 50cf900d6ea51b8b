"""Where a webhook is: a URL, or a service of this server's own objects."""

from __future__ import annotations

from dataclasses import dataclass

from crossply.apiserver.admission.admission_review import CallFailed
from crossply.apiserver.endpoints.body_decoding import decode
from crossply.apiserver.storage import Store
from crossply.values import Object
from crossply.values.goquote import quote


class ServiceUnreachable(OSError):
    """A service that a webhook is behind of cannot be had."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where to send a review."""

    shown: str
    """The URL as messages name it."""
    url: str
    """The URL that is really called; only its path when a service must be found first."""
    server_name: str | None = None
    """The name that the certificate must be for, when it is not that of the URL."""
    host: str | None = None
    service: Object | None = None


def find_address(client: Object, store: Store) -> Address:
    """The address in a webhook's `clientConfig`."""
    service = client.get("service")
    if not service:
        url = client.get("url") or ""
        if not url:
            raise CallFailed(
                "could not get REST client: webhook configuration must have either service or URL"
            )
        return Address(url, url)
    name, namespace = service.get("name", ""), service.get("namespace", "")
    port = service.get("port") or 443
    path = "/" + (service.get("path") or "").lstrip("/")
    server = f"{name}.{namespace}.svc"
    shown = f"https://{server}:{port}{path}"
    return Address(shown, path, server, f"{server}:{port}", service)


def resolve(address: Address, store: Store) -> str:
    """The URL to call for an address."""
    if address.service is None:
        return address.url
    service = address.service
    where = _resolve(store, service.get("namespace", ""), service.get("name", ""), service.get("port") or 443)
    return f"https://{where}{address.url}"


def _resolve(store: Store, namespace: str, name: str, port: int) -> str:
    entry = store.get(("services", namespace, name))
    if entry is None:
        raise ServiceUnreachable(f"service {quote(name)} not found")
    spec = decode(entry.data).get("spec") or {}
    if spec.get("type") == "ExternalName":
        return f"{spec.get('externalName', '')}:{port}"
    offered = next((each for each in spec.get("ports") or () if each.get("port") == port), None)
    if offered is None:
        raise ServiceUnreachable(f"no service port {port} found for service {quote(name)}")
    endpoint = _endpoint(store, namespace, name, offered)
    if endpoint:
        return endpoint
    address = spec.get("clusterIP")
    if not address or address == "None":
        raise ServiceUnreachable(f"no endpoints available for service {quote(name)}")
    return f"{_bracketed(address)}:{port}"


def _endpoint(store: Store, namespace: str, name: str, offered: Object) -> str:
    """An address behind a service. There is no network of services here, so what it stands for is called."""
    entry = store.get(("endpoints", namespace, name))
    subsets = (decode(entry.data).get("subsets") or ()) if entry is not None else ()
    for subset in subsets:
        for port in subset.get("ports") or ():
            if port.get("name", "") == offered.get("name", "") and subset.get("addresses"):
                return f"{_bracketed(subset['addresses'][0]['ip'])}:{port['port']}"
    return ""


def _bracketed(address: str) -> str:
    return f"[{address}]" if ":" in address else address
