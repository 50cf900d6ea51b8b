"""Where a webhook is reached: at a URL, or behind a Service among the stored objects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from crossply.apiserver.storage import Store
from crossply.apiserver.stored_object_codec import decode
from crossply.values import Object
from crossply.values.goquote import quote


class ServiceUnreachable(OSError):
    """The Service of a webhook does not exist, or has no endpoint."""


ResolveService = Callable[[str, str, int], str]
"""From the namespace, name and port of a Service to `host:port`; raises ServiceUnreachable."""


@dataclass(frozen=True, slots=True)
class WebhookAddress:
    """Where to send a review."""

    shown: str
    """The URL as messages name it."""
    url: str
    """The URL to call."""
    server_name: str | None = None
    """The name that the certificate must have, if not the host of the URL."""
    host: str | None = None
    """The Host header, if not that of the URL."""


def service_url(service: Object) -> str:
    """The URL that messages show for a Service."""
    server, port, path = _parts(service)
    return f"https://{server}:{port}{path}"


def resolve_address(service: Object, resolve: ResolveService) -> WebhookAddress:
    """The address behind the `service` of a clientConfig; raises ServiceUnreachable."""
    server, port, path = _parts(service)
    endpoint = resolve(service.get("namespace", ""), service.get("name", ""), port)
    return WebhookAddress(
        service_url(service), f"https://{endpoint}{path}", server_name=server, host=f"{server}:{port}"
    )


def _parts(service: Object) -> tuple[str, int, str]:
    server = f"{service.get('name', '')}.{service.get('namespace', '')}.svc"
    return server, service.get("port") or 443, "/" + (service.get("path") or "").lstrip("/")


def stored_services(store: Store) -> ResolveService:
    """Resolves Services by their external name, endpoints or cluster IP in the store."""

    def resolve(namespace: str, name: str, port: int) -> str:
        entry = store.get(("services", namespace, name))
        if entry is None:
            raise ServiceUnreachable(f"service {quote(name)} not found")
        spec = decode(entry.data).get("spec") or {}
        if spec.get("type") == "ExternalName":
            return f"{spec.get('externalName', '')}:{port}"
        service_port = next((p for p in spec.get("ports") or () if p.get("port") == port), None)
        if service_port is None:
            raise ServiceUnreachable(f"no service port {port} found for service {quote(name)}")
        endpoint = _endpoint(store, namespace, name, service_port)
        if endpoint:
            return endpoint
        address = spec.get("clusterIP")
        if not address or address == "None":
            raise ServiceUnreachable(f"no endpoints available for service {quote(name)}")
        return f"{_bracketed(address)}:{port}"

    return resolve


def _endpoint(store: Store, namespace: str, name: str, service_port: Object) -> str:
    """An endpoint of a Service; it is called directly, because nothing here routes cluster IPs."""
    entry = store.get(("endpoints", namespace, name))
    subsets = (decode(entry.data).get("subsets") or ()) if entry is not None else ()
    for subset in subsets:
        for port in subset.get("ports") or ():
            if port.get("name", "") == service_port.get("name", "") and subset.get("addresses"):
                return f"{_bracketed(subset['addresses'][0]['ip'])}:{port['port']}"
    return ""


def _bracketed(address: str) -> str:
    return f"[{address}]" if ":" in address else address
