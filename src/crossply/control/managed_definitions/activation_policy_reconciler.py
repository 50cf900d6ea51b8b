"""Reconciles ManagedResourceActivationPolicies: what they match is activated, and never deactivated.

A new control plane gets one that activates every kind.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress

import orjson

from crossply.compose.conditions import with_conditions
from crossply.compose.events import NORMAL, PAUSED, WARNING, Event, StatusCondition
from crossply.compose.object_metadata import is_being_deleted, is_paused, name_of
from crossply.control.controller_context import Plane
from crossply.control.kinds import ACTIVATION_POLICY, MANAGED_DEFINITION
from crossply.control.managed_definitions.conversion import ACTIVE, INACTIVE
from crossply.control.managed_definitions.definition_informer import BY_STATE, acquire_definitions
from crossply.control.managed_fields_noop_check import CROSSPLANE
from crossply.kinds.activation_policy import activated_by
from crossply.kube.controller import Requeue
from crossply.kube.failures import AlreadyExists, KubeError, NotFound
from crossply.kube.informer import Informer
from crossply.values import Object

HEALTHY = StatusCondition("Healthy", "True", "Running")
UNHEALTHY = StatusCondition("Healthy", "Unknown", "EncounteredErrors")
TERMINATING = StatusCondition("Established", "False", "TerminatingManagedResourceActivationPolicy")
ACTIVATE = "ActivateManagedResourceDefinition"
_ACTIVATED = Event(NORMAL, ACTIVATE, "Successfully activated ManagedResourceDefinition")
_PAUSE = Event(NORMAL, PAUSED, "Reconciliation is paused via the pause annotation")
_SECONDS_BETWEEN_WRITES = 1.0
"""While a Provider with thousands of kinds is installed, its names are not written for each of them."""
_DEFAULT_POLICY = "default"


class ActivationPolicyReconciler:
    """Activates what policies match."""

    def __init__(self, plane: Plane, policies: Informer, definitions: Informer) -> None:
        self._plane, self._policies, self._definitions = plane, policies, definitions
        self._written: dict[str, float] = {}

    async def reconcile(self, name: str) -> Requeue | None:
        """Bring one policy in line."""
        data = self._policies.get("", name)
        if data is None:
            self._written.pop(name, None)
            return None
        policy: Object = orjson.loads(data)
        if is_being_deleted(policy):
            await self._write(with_conditions(policy, (TERMINATING,), self._plane.now()), policy)
            return None
        if is_paused(policy):
            self._plane.recorder.record(policy, _PAUSE)
            return None
        keys = self._definitions.keys()
        matched = activated_by(policy, [name for _, name in keys])
        failed = await self._activate(policy, matched)
        return await self._report(policy, [known for known in matched if known not in failed], len(failed))

    async def _activate(self, policy: Object, names: list[str]) -> set[str]:
        """Activate those that are not; returns those that cannot be."""
        inactive = {key[1] for key in self._definitions.keys_by(BY_STATE, INACTIVE)}
        failed = set()
        for name in names:
            if name not in inactive:
                continue
            try:
                await self._activate_definition(name)
            except NotFound:
                failed.add(name)  # gone in the meantime: the watch says so
            except KubeError as problem:
                failed.add(name)
                self._plane.recorder.record(policy, Event(WARNING, ACTIVATE, str(problem)))
            else:
                self._plane.recorder.record(policy, _ACTIVATED)
        return failed

    async def _activate_definition(self, name: str) -> None:
        body = {"spec": {"state": ACTIVE}}
        client = self._plane.as_installer
        written = await client.patch_merge(MANAGED_DEFINITION, name, body, "", CROSSPLANE)
        self._definitions.record_write(written)

    async def _report(self, policy: Object, activated: list[str], failures: int) -> Requeue | None:
        message = f"failed to activate {failures} of {len(activated)} ManagedResourceDefinitions"
        condition = UNHEALTHY._replace(message=message) if failures else HEALTHY
        status = {key: value for key, value in (policy.get("status") or {}).items() if key != "activated"}
        if activated:
            status["activated"] = activated
        desired = with_conditions({**policy, "status": status}, (condition,), self._plane.now())
        if desired["status"] != policy.get("status"):
            pause = self._written.get(name_of(policy), 0.0) + _SECONDS_BETWEEN_WRITES - time.monotonic()
            if pause > 0:
                return Requeue(pause)
            await self._write(desired, policy)
        return Requeue() if failures else None

    async def _write(self, desired: Object, policy: Object) -> None:
        if desired["status"] == policy.get("status"):
            return
        self._written[name_of(policy)] = time.monotonic()
        client = self._plane.as_installer
        self._policies.record_write(await client.update_status(ACTIVATION_POLICY, desired, CROSSPLANE))


async def install_default_policy(plane: Plane, patterns: Sequence[str]) -> None:
    """Create the policy of these patterns, unless there is one or a user decided before.

    Where definitions are inactive and there is no such policy, whoever ran the control plane until now
    wanted it so.
    """
    policies = plane.informers.acquire(ACTIVATION_POLICY)
    await policies.synced.wait()
    if not patterns or policies.get("", _DEFAULT_POLICY) is not None:
        return
    definitions = acquire_definitions(plane.informers)
    await definitions.synced.wait()
    if definitions.keys_by(BY_STATE, INACTIVE):
        return
    head = {"apiVersion": ACTIVATION_POLICY.api_version, "kind": ACTIVATION_POLICY.kind}
    policy = {**head, "metadata": {"name": _DEFAULT_POLICY}, "spec": {"activate": list(patterns)}}
    with suppress(AlreadyExists):
        await plane.as_installer.create(ACTIVATION_POLICY, policy, CROSSPLANE)
