"""Where API servers find the webhook server: behind a Service, or at an address of this machine."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import urlsplit

from crossply.values import Object

LOOPBACK = "127.0.0.1"
SERVICE_PORT = 443


class WebhookSettings(NamedTuple):
    """What the command line says about webhooks."""

    port: int = 0
    """The port to listen on; 0 takes a free one."""
    host: str = ""
    """The name or address that API servers reach us at; empty to find it out."""
    service_name: str = ""
    """The Service in front of all replicas; empty where there is none."""
    service_namespace: str = "crossplane-system"
    """Where the Service is, and in any case the Secret with the certificate."""


class WebhookAddress(NamedTuple):
    """Where to listen, and the address for API servers."""

    listen: str
    """The interface to listen on; empty for all."""
    names: tuple[str, ...]
    """What the certificate is for."""
    service: tuple[str, str] | None = None
    """Namespace and name of the Service."""

    def client_config(self, path: str, port: int, bundle: str) -> Object:
        """How an API server is to call us."""
        if self.service is not None:
            namespace, name = self.service
            config: Object = {"service": {"namespace": namespace, "name": name, "path": path}}
            config["service"]["port"] = SERVICE_PORT
        else:
            host = f"[{self.names[0]}]" if ":" in self.names[0] else self.names[0]
            config = {"url": f"https://{host}:{port}{path}"}
        return {**config, "caBundle": bundle}


def find_address(settings: WebhookSettings, server: str) -> WebhookAddress:
    """The address for these settings, and for an API server at this URL. Looks up its name, if it has one."""
    if settings.service_name:
        name, namespace = settings.service_name, settings.service_namespace
        names = (f"{name}.{namespace}.svc", f"{name}.{namespace}", name)
        return WebhookAddress("", names, (namespace, name))
    host = settings.host or _towards(server)
    return WebhookAddress(host if _is_loopback(host) else "", (host,))


def _towards(server: str) -> str:
    """The address of this machine as the API server sees it; its own for one that runs here."""
    parts = urlsplit(server)
    host = parts.hostname or LOOPBACK
    if _is_loopback(host):
        return LOOPBACK
    try:
        [family, kind, protocol, _, address] = socket.getaddrinfo(
            host, parts.port or 443, type=socket.SOCK_DGRAM
        )[0]
        with socket.socket(family, kind, protocol) as probe:
            # Nothing is sent: this only asks which way it would go.
            probe.connect(address)
            return str(probe.getsockname()[0])
    except OSError:
        return LOOPBACK


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


_PATIENCE = 3.0
"""Seconds; a replica that is frozen still accepts connections, but says nothing."""


async def answers(url: str, authorities: bytes) -> bool:
    """Whether a replica with a certificate of these authorities answers at a URL."""
    parts = urlsplit(url)
    context = ssl.create_default_context(cadata=authorities.decode())
    try:
        async with asyncio.timeout(_PATIENCE):
            _, writer = await asyncio.open_connection(parts.hostname, parts.port or 443, ssl=context)
    except (OSError, ValueError):
        return False
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return True
