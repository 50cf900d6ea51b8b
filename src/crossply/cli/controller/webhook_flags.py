"""Flags for the admission webhooks of `crossply controller`."""

from __future__ import annotations

from crossply.cli.framework.command import Flag, Invocation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crossply.control.webhooks.webhook_address import WebhookSettings

_PORT_BEHIND_A_SERVICE = 9443

WEBHOOK_FLAGS = (
    Flag(
        "enable-webhooks",
        "Refuse to delete resources that a Usage protects. Enabled by default. If disabled, "
        "Usages only report what is in use.",
        default=True,
        env="ENABLE_WEBHOOKS",
        aliases=("webhook-enabled",),
    ),
    Flag(
        "webhook-port",
        f"The port for webhooks: {_PORT_BEHIND_A_SERVICE} behind a Service, otherwise a free one.",
        kind="int",
    ),
    Flag(
        "webhook-host",
        "The host name or address at which API servers reach this machine, if there is no Service.",
        kind="string",
    ),
    Flag(
        "webhook-service-name",
        "The Service of the webhook servers of all replicas.",
        kind="string",
        env="WEBHOOK_SERVICE_NAME",
    ),
    Flag(
        "webhook-service-namespace",
        "The namespace of the webhook Service and of the Secret with its certificate.",
        kind="string",
        default="crossplane-system",
        env="WEBHOOK_SERVICE_NAMESPACE",
    ),
)


def webhook_settings(invocation: Invocation) -> WebhookSettings | None:
    """What the flags say; None for no webhooks."""
    from crossply.control.webhooks.webhook_address import WebhookSettings

    if not invocation["enable-webhooks"]:
        return None
    service, port = invocation["webhook-service-name"] or "", invocation["webhook-port"]
    if port is None:
        port = _PORT_BEHIND_A_SERVICE if service else 0
    return WebhookSettings(
        port, invocation["webhook-host"] or "", service, invocation["webhook-service-namespace"]
    )
