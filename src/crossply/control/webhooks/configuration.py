"""The webhook configuration: the API server asks before anything is deleted that is in use."""

from __future__ import annotations

from crossply.compose.object_metadata import annotations_of
from crossply.control.usages.usage_model import IN_USE
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
