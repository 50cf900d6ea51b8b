"""Composing on behalf of a service account, so that RBAC limits what a kind can be made of.

A definition may name one. Then everything that its composite resources are composed of, and all that is read
for it, is asked for in the name of that account; the controllers keep only the books as themselves: the
composite resource, its conditions and its events. So whoever may write Compositions for the kind gets no
further than the account does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from crossply.control.plane import Plane
from crossply.errors import CrossplyError
from crossply.kinds.definition import Definition

_ACCOUNT = "system:serviceaccount:"
_REFUSAL = re.compile(
    r'User "(?P<user>[^"]+)" cannot (?P<verb>\S+) resource "(?P<resource>[^"]+)" in API group '
    r'"(?P<group>[^"]*)"(?: in the namespace "(?P<namespace>[^"]+)")?'
)
_READS, _WRITES = ("get", "list"), ("get", "create", "patch", "delete")
_WATCHES = (*_READS, "watch")
_KEEPS = (*_WATCHES, "create", "update", "patch", "delete")
GATHERED = "rbac.crossplane.io/aggregate-to-crossplane"
"""The label of roles whose rights the controllers have."""


class Refusal(NamedTuple):
    """Who may not do what, as the API server says it."""

    user: str
    verb: str
    resource: str
    """As kubectl takes it: with its group, without its subresource."""
    namespace: str
    """Empty for all of the cluster."""
    composed: bool
    """Whether it is about something that is composed, not only read."""


def composing(plane: Plane, definition: Definition) -> Plane:
    """The plane as the service account of a definition has it; the same where none is named."""
    account = definition.service_account
    if account is None:
        return plane
    return replace(plane, client=plane.client.acting_as(account.user), reporting=plane.own)


def explain_refusal(problem: CrossplyError, definition: Definition) -> None:
    """Add to a problem, where it is that something may not be done, how to allow it."""
    account = definition.service_account
    problem.args = (explained(str(problem), account.user if account is not None else ""),)


def explained(message: str, account: str = "") -> str:
    """A message with the way out, where it is that something may not be done, maybe by an account."""
    refusal = refusal_in(message)
    if refusal is None:
        return message
    if account and (refusal.user == account or refusal.verb == "impersonate"):
        return f"{message}. {told(refusal, grant(refusal))}"
    # What an account composes the controllers themselves only watch.
    writes = refusal.verb not in _WATCHES or (refusal.composed and not account)
    return f"{message}. {told(refusal, grant_to_all(refusal, writes))}"


def refusal_in(message: str) -> Refusal | None:
    """The refusal that a message tells of, if it tells of one."""
    found = _REFUSAL.search(message)
    if found is None:
        return None
    plural = found["resource"].partition("/")[0]
    resource = f"{plural}.{found['group']}" if found["group"] else plural
    composed = found["verb"] not in _WATCHES or "composed resource" in message
    return Refusal(found["user"], found["verb"], resource, found["namespace"] or "", composed)


def told(refusal: Refusal, commands: Iterable[str]) -> str:
    """What is missing, and the commands that grant it."""
    where = f"in namespace {refusal.namespace}" if refusal.namespace else "in the cluster"
    grants = " && ".join(commands)
    return f"{_name(refusal.user)} may not {refusal.verb} {refusal.resource} {where}; to grant it: {grants}"


def grant(refusal: Refusal) -> tuple[str, str]:
    """The commands that make a role for what is missing, and bind it."""
    kind = "role" if refusal.namespace else "clusterrole"
    place = f" -n {refusal.namespace}" if refusal.namespace else ""
    role = f"{refusal.user.rpartition(':')[2]}-{refusal.resource}"
    return (
        f"kubectl create {kind} {role} --verb={_verbs(refusal)} --resource={refusal.resource}{place}",
        f"kubectl create {kind}binding {role} --{kind}={role} {_subject(refusal.user)}{place}",
    )


def grant_to_all(refusal: Refusal, writes: bool) -> tuple[str, str]:
    """The commands that make a role for what is missing, and gather it into the controllers' own.

    Whoever may write a Composition for any kind can then have it written: the controllers do not tell them
    apart.
    """
    role = f"crossplane:composed:{refusal.resource}"
    verbs = _KEEPS if writes else _WATCHES
    return (
        f"kubectl create clusterrole {role} --verb={','.join(verbs)} --resource={refusal.resource}",
        f"kubectl label clusterrole {role} {GATHERED}=true",
    )


def _verbs(refusal: Refusal) -> str:
    """What composing takes, not only what failed first."""
    if refusal.verb == "impersonate":
        return refusal.verb
    verbs = _WRITES if refusal.composed else _READS
    return ",".join(verbs if refusal.verb in verbs else (*verbs, refusal.verb))


def _subject(user: str) -> str:
    if user.startswith(_ACCOUNT):
        return f"--serviceaccount={user.removeprefix(_ACCOUNT)}"
    return f"--user={user}"


def _name(user: str) -> str:
    if user.startswith(_ACCOUNT):
        return f"service account {user.removeprefix(_ACCOUNT).replace(':', '/')}"
    return f"user {user}"
