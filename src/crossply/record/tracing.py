"""Enables tracing according to the standard environment variables of OpenTelemetry.

OpenTelemetry is an extra of the package and takes a tenth of a second to import, so it is imported only if
the environment asks for it.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping

from crossply.extras import install_command

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_HTTP = "http/protobuf"


def is_tracing_enabled(environ: Mapping[str, str]) -> bool:
    """Whether the environment asks for traces."""
    if environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    return environ.get("OTEL_TRACES_EXPORTER") != "none" and any(environ.get(name) for name in _ENDPOINTS)


def obstacle(environ: Mapping[str, str]) -> str:
    """Why traces cannot be sent as the environment asks; empty where they can."""
    if importlib.util.find_spec("opentelemetry") is None:
        return f"OpenTelemetry is not installed: run {install_command('otel')}"
    protocol = next((environ[name] for name in _PROTOCOLS if environ.get(name)), _HTTP)
    return "" if protocol == _HTTP else f"the protocol {protocol} is not offered: use {_HTTP}"


def start_tracing() -> Callable[[], None]:
    """Trace every run from now on; returns how to send the rest and stop."""
    from crossply.record.opentelemetry_spans import start_spans

    return start_spans()
