"""The ManagedResourceActivationPolicy that a new control plane gets, which activates every kind."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from crossply.control.controller_context import Plane
from crossply.control.kinds import ACTIVATION_POLICY
from crossply.control.managed_definitions.conversion import INACTIVE
from crossply.control.managed_definitions.definition_informer import BY_STATE, acquire_definitions
from crossply.control.managed_fields import CROSSPLANE
from crossply.kube.failures import AlreadyExists

NAME = "default"


async def install_default_policy(plane: Plane, patterns: Sequence[str]) -> None:
    """Create the policy of these patterns, unless there is one or a user decided before.

    Where definitions are inactive and there is no such policy, whoever ran the control plane until now
    wanted it so.
    """
    policies = plane.informers.acquire(ACTIVATION_POLICY)
    await policies.synced.wait()
    if not patterns or policies.get("", NAME) is not None:
        return
    definitions = acquire_definitions(plane.informers)
    await definitions.synced.wait()
    if definitions.keys_by(BY_STATE, INACTIVE):
        return
    head = {"apiVersion": ACTIVATION_POLICY.api_version, "kind": ACTIVATION_POLICY.kind}
    policy = {**head, "metadata": {"name": NAME}, "spec": {"activate": list(patterns)}}
    with suppress(AlreadyExists):
        await plane.as_installer.create(ACTIVATION_POLICY, policy, CROSSPLANE)
