"""What of a Provider calls it back: webhooks, which get the Service and the certificate of its runtime."""

from __future__ import annotations

from collections.abc import Iterable

from crossply.compose.object_metadata import labels_of
from crossply.control.calls.function_revision_runtime import PACKAGE
from crossply.control.package_manager.owner_references import package_owner
from crossply.values import Object

PORT = 9443
_CONFIGURATIONS = ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")


def call_back(objects: Iterable[Object]) -> bool:
    """Whether any of these calls the Provider, so that its certificate must be there first."""
    return any(obj["kind"] in _CONFIGURATIONS or _converts(obj) for obj in objects)


def _converts(obj: Object) -> bool:
    conversion = obj["spec"].get("conversion") if isinstance(obj.get("spec"), dict) else None
    return isinstance(conversion, dict) and conversion.get("strategy") == "Webhook"


def pointed_home(obj: Object, revision: Object, namespace: str, certificate: str) -> Object:
    """An object whose webhooks lead to the Service of a Provider; the certificate is base64."""
    service = {"name": labels_of(revision).get(PACKAGE, ""), "namespace": namespace, "port": PORT}
    if obj["kind"] in _CONFIGURATIONS:
        return _configuration(obj, revision, service, certificate)
    if not _converts(obj):
        return obj
    conversion = obj["spec"]["conversion"]
    webhook = conversion.get("webhook") or {"conversionReviewVersions": ["v1"]}
    webhook = {**webhook, "clientConfig": _client(webhook.get("clientConfig"), service, certificate)}
    return {**obj, "spec": {**obj["spec"], "conversion": {**conversion, "webhook": webhook}}}


def _configuration(obj: Object, revision: Object, service: Object, certificate: str) -> Object:
    """All providers call theirs the same, so it is named after the package."""
    owner = package_owner(revision) or {}
    name = f"crossplane-{str(owner.get('kind', '')).lower()}-{owner.get('name', '')}"
    webhooks = [
        {**webhook, "clientConfig": _client(webhook.get("clientConfig"), service, certificate)}
        for webhook in obj.get("webhooks") or ()
    ]
    return {**obj, "metadata": {**obj["metadata"], "name": name}, "webhooks": webhooks}


def _client(config: Object | None, service: Object, certificate: str) -> Object:
    fields = {key: value for key, value in (config or {}).items() if key != "url"}
    return {**fields, "caBundle": certificate, "service": {**(fields.get("service") or {}), **service}}
