"""The webhook configuration: the API server asks before anything is deleted that is in use.

Crossplane's own configuration stays as it is beside ours. While Crossplane runs, both are asked and both
refuse. When it runs no more, its configuration still refuses: no server answers for it. Delete it when
Crossplane is removed for good; Crossplane creates it at its start.
"""

from __future__ import annotations

import base64
import logging

from cryptography import x509

from crossply.compose.object_metadata import annotations_of
from crossply.control.usages.usage_model import IN_USE
from crossply.control.webhooks.certificates import is_ours
from crossply.errors import CrossplyError
from crossply.kube.client import Client
from crossply.kube.failures import Conflict
from crossply.kube.kind import Kind
from crossply.values import Object

CONFIGURATIONS = Kind(
    "admissionregistration.k8s.io",
    "v1",
    "ValidatingWebhookConfiguration",
    "validatingwebhookconfigurations",
    False,
)
NAME = "crossply-no-usages"
"""Not Crossplane's, which stays beside it: what is in use is protected by whichever of the two runs."""
WEBHOOK = "nousages.protection.crossplane.io"
LEFT = "crossply.io/webhook-left"
"""When the replica stopped that the configuration names; another may take over."""
_SECONDS = 10
LEGACY_NAME = "crossplane-no-usages"
_log = logging.getLogger("crossply.webhook")


def webhooks_for(client_config: Object) -> list[Object]:
    """The webhooks of the configuration, with nothing left to a server's defaults."""
    return [
        {
            "name": WEBHOOK,
            "clientConfig": client_config,
            "rules": [
                {
                    "apiGroups": ["*"],
                    "apiVersions": ["*"],
                    "operations": ["DELETE"],
                    "resources": ["*"],
                    "scope": "*",
                }
            ],
            "failurePolicy": "Fail",
            "matchPolicy": "Equivalent",
            "namespaceSelector": {},
            "objectSelector": {"matchLabels": {IN_USE: "true"}},
            # An attempt to delete is noted on the object, but not when it is only tried out.
            "sideEffects": "NoneOnDryRun",
            "timeoutSeconds": _SECONDS,
            "admissionReviewVersions": ["v1"],
        }
    ]


def configuration_of(live: Object | None, webhooks: list[Object]) -> Object:
    """The whole object: a new one, or the live one with other webhooks."""
    if live is not None:
        annotations = {key: value for key, value in annotations_of(live).items() if key != LEFT}
        return {**live, "metadata": {**live["metadata"], "annotations": annotations}, "webhooks": webhooks}
    return {
        "apiVersion": CONFIGURATIONS.api_version,
        "kind": CONFIGURATIONS.kind,
        "metadata": {"name": NAME},
        "webhooks": webhooks,
    }


def url_in(configuration: Object) -> str:
    """The URL that a configuration has for our webhook; empty for a Service."""
    for webhook in configuration.get("webhooks") or ():
        if webhook.get("name") == WEBHOOK:
            return str((webhook.get("clientConfig") or {}).get("url") or "")
    return ""


async def remove_legacy_configuration(client: Client) -> None:
    """Log that there is one.

    One that an older version of ours wrote under that name is deleted: no server answers for it.
    """
    try:
        live = await client.get(CONFIGURATIONS, LEGACY_NAME)
        if live is None:
            return
        if not _is_legacy(live):
            _log.info(
                "the webhook configuration %s of Crossplane stays; once Crossplane is gone for good, "
                "delete it: kubectl delete validatingwebhookconfiguration %s",
                LEGACY_NAME,
                LEGACY_NAME,
            )
            return
        metadata = live["metadata"]
        await client.delete(
            CONFIGURATIONS, LEGACY_NAME, uid=metadata["uid"], resource_version=metadata["resourceVersion"]
        )
    except (CrossplyError, Conflict) as problem:
        _log.info("the webhook configuration %s stays: %s", LEGACY_NAME, problem)


def _is_legacy(configuration: Object) -> bool:
    webhooks = configuration.get("webhooks") or ()
    return bool(webhooks) and all(map(_trusts_us, webhooks))


def _trusts_us(webhook: Object) -> bool:
    bundle = (webhook.get("clientConfig") or {}).get("caBundle") or ""
    try:
        return any(map(is_ours, x509.load_pem_x509_certificates(base64.b64decode(bundle))))
    except ValueError:
        return False
