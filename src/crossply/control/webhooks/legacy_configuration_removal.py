"""Crossplane's own webhook configuration, which stays as it is beside ours.

While Crossplane runs, both are asked and both refuse. When it runs no more, its configuration still refuses:
no server answers for it. Delete it when Crossplane is removed for good; Crossplane creates it at its start.
"""

from __future__ import annotations

import base64
import logging

from cryptography import x509

from crossply.control.webhooks.certificates import is_ours
from crossply.control.webhooks.configuration import CONFIGURATIONS
from crossply.errors import CrossplyError
from crossply.kube.client import Client
from crossply.kube.failures import Conflict
from crossply.values import Object

NAME = "crossplane-no-usages"
_log = logging.getLogger("crossply.webhook")


async def remove_legacy_configuration(client: Client) -> None:
    """Log that there is one.

    One that an older version of ours wrote under that name is deleted: no server answers for it.
    """
    try:
        live = await client.get(CONFIGURATIONS, NAME)
        if live is None:
            return
        if not _is_legacy(live):
            _log.info(
                "the webhook configuration %s of Crossplane stays; once Crossplane is gone for good, "
                "delete it: kubectl delete validatingwebhookconfiguration %s",
                NAME,
                NAME,
            )
            return
        metadata = live["metadata"]
        await client.delete(
            CONFIGURATIONS, NAME, uid=metadata["uid"], resource_version=metadata["resourceVersion"]
        )
    except (CrossplyError, Conflict) as problem:
        _log.info("the webhook configuration %s stays: %s", NAME, problem)


def _is_legacy(configuration: Object) -> bool:
    webhooks = configuration.get("webhooks") or ()
    return bool(webhooks) and all(map(_trusts_us, webhooks))


def _trusts_us(webhook: Object) -> bool:
    bundle = (webhook.get("clientConfig") or {}).get("caBundle") or ""
    try:
        return any(map(is_ours, x509.load_pem_x509_certificates(base64.b64decode(bundle))))
    except ValueError:
        return False
