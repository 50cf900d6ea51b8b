"""The kubectl commands that grant what the API server refused: for all that a Composition composes, at once.

A role is named after what it is for and has a digest of its content in its name, so two Compositions never
mean different things by one name. Running the commands again changes nothing, and restores what was changed.
"""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Iterable
from typing import NamedTuple

from crossply.kube.failures import Forbidden

SERVICE_ACCOUNT = "system:serviceaccount:"
GATHERED = "rbac.crossplane.io/aggregate-to-crossplane"
"""The label of roles whose rights the controllers have."""

_REFUSAL = re.compile(
    r'(?:"(?P<name>[^"]+)" is forbidden: )?'
    r'User "(?P<user>[^"]+)" cannot (?P<verb>\S+) resource "(?P<resource>[^"]+)" in API group '
    r'"(?P<group>[^"]*)"(?: in the namespace "(?P<namespace>[^"]+)")?'
)
_READS, _WRITES = ("get", "list"), ("get", "create", "patch", "delete")
_WATCHES = (*_READS, "watch")
_WRITE_VERBS = (*_WATCHES, "create", "update", "patch", "delete")
_IMPERSONATE = "impersonate"
_DIGEST_LENGTH = 8


class Place(NamedTuple):
    """Objects of a kind in a namespace, or in none."""

    resource: str
    """As kubectl takes it: with its group, without its subresource."""
    namespace: str
    """Empty for all of the cluster."""


class Composed(NamedTuple):
    """What a Composition composes."""

    composition: str = ""
    places: frozenset[Place] = frozenset()


class Refusal(NamedTuple):
    """Who may not do what, as the API server says it."""

    user: str
    verb: str
    place: Place
    is_composed: bool
    """Whether it is about something that is composed, not only read."""
    name: str = ""
    """The object that it is about; empty where the API server names none."""

    @property
    def only(self) -> str:
        """The one object that rights are granted to; empty for all objects of the kind.

        A right to impersonate any account of a namespace, or to read any Secret, is more than was refused.
        """
        is_secret_read = self.place.resource == "secrets" and self.verb == "get" and not self.is_composed
        return self.name if self.verb == _IMPERSONATE or is_secret_read else ""


class _Role(NamedTuple):
    """A role to make, for whom, and where."""

    name: str
    verbs: tuple[str, ...]
    resources: tuple[str, ...]
    user: str
    namespace: str = ""
    object_name: str = ""
    """Empty for all objects."""


NOTHING_COMPOSED = Composed()


def refusal_of(problem: BaseException, composed: Composed = NOTHING_COMPOSED) -> Refusal | None:
    """The refusal that an error was caused by, if it was caused by one."""
    cause: BaseException | None = problem
    while cause is not None and not isinstance(cause, Forbidden):
        cause = cause.__cause__ or cause.__context__
    return None if cause is None else read_refusal(str(cause), composed)


def read_refusal(message: str, composed: Composed = NOTHING_COMPOSED) -> Refusal | None:
    """The refusal that the API server describes; its Status has no fields for the user and the verb."""
    match = _REFUSAL.search(message)
    if match is None:
        return None
    plural = match["resource"].partition("/")[0]
    resource = f"{plural}.{match['group']}" if match["group"] else plural
    verb, name = match["verb"], match["name"] or ""
    place = Place(resource, match["namespace"] or "")
    is_composed = verb != _IMPERSONATE and (verb not in _WATCHES or _is_composed(place, verb, composed))
    return Refusal(match["user"], verb, place, is_composed, name)


def _is_composed(place: Place, verb: str, composed: Composed) -> bool:
    """Whether a Composition composes what may not be read; kinds are watched in the whole cluster."""
    if verb == "get" or place.namespace:
        return place in composed.places
    return any(place.resource == other.resource for other in composed.places)


def explained(
    message: str, problem: BaseException, account: str = "", composed: Composed = NOTHING_COMPOSED
) -> str:
    """The message of a problem, with the commands that help where the API server refused something.

    `account` is the user that a definition composes as; empty where the controllers do so themselves.
    """
    refusal = refusal_of(problem, composed)
    if refusal is None:
        return message
    if account and refusal.verb == _IMPERSONATE:
        commands = grant(refusal._replace(name=account.rpartition(":")[2]))
    elif account and refusal.user == account:
        commands = grant(refusal, composed)
    else:
        # What an account composes the controllers themselves only watch.
        writes = refusal.is_composed and (refusal.verb not in _WATCHES or not account)
        commands = grant_to_controllers(refusal, writes, composed)
    place = refusal.place
    location = f"in namespace {place.namespace}" if place.namespace else "in the cluster"
    sentence = f"{_name(refusal.user)} may not {refusal.verb} {place.resource} {location}"
    return f"{message}. {sentence}; to grant it: {' && '.join(commands)}"


def grant(refusal: Refusal, composed: Composed = NOTHING_COMPOSED) -> tuple[str, ...]:
    """The commands that make roles for an account, and bind them: one of each for every namespace."""
    verbs, places = _verbs(refusal), {refusal.place}
    if refusal.is_composed:
        places |= composed.places
    commands: list[str] = []
    for namespace in sorted({place.namespace for place in places}):
        resources = sorted({place.resource for place in places if place.namespace == namespace})
        commands += _bound(_role(refusal, composed, verbs, resources, namespace))
    return tuple(commands)


def grant_to_controllers(
    refusal: Refusal,
    writes: bool,
    composed: Composed = NOTHING_COMPOSED,
) -> tuple[str, ...]:
    """The commands that make a role, and gather it into the controllers' own.

    Whoever may write a Composition for any kind can then have it written: the controllers do not tell them
    apart.
    """
    places = {refusal.place, *(composed.places if refusal.is_composed else ())}
    resources = sorted({place.resource for place in places})
    if refusal.only:
        verbs: tuple[str, ...] = (refusal.verb,)
    else:
        verbs = _WRITE_VERBS if writes else _WATCHES
    role = _role(refusal, composed, verbs, resources)
    return (
        _apply("clusterrole", role.name, f"{_allowing(role)}"),
        f"kubectl label --overwrite clusterrole {role.name} {GATHERED}=true",
    )


def _role(
    refusal: Refusal, composed: Composed, verbs: Iterable[str], resources: Iterable[str], namespace: str = ""
) -> _Role:
    role = _Role("", tuple(verbs), tuple(resources), refusal.user, namespace, refusal.only)
    digest = hashlib.sha256(repr(role).encode()).hexdigest()[:_DIGEST_LENGTH]
    if refusal.is_composed:
        purpose = f"composed:{composed.composition or refusal.place.resource}"
    else:
        purpose = f"required:{refusal.place.resource}"
    return role._replace(name=f"crossplane:{purpose}:{digest}")


def _bound(role: _Role) -> tuple[str, str]:
    kind = "role" if role.namespace else "clusterrole"
    place = f" -n {role.namespace}" if role.namespace else ""
    return (
        _apply(kind, role.name, f"{_allowing(role)}{place}"),
        _apply(f"{kind}binding", role.name, f"--{kind}={role.name} {_subject(role.user)}{place}"),
    )


def _apply(kind: str, name: str, flags: str) -> str:
    return f"kubectl create {kind} {name} {flags} --dry-run=client -o yaml | kubectl apply -f -"


def _allowing(role: _Role) -> str:
    only = f" --resource-name={shlex.quote(role.object_name)}" if role.object_name else ""
    return f"--verb={','.join(role.verbs)} --resource={','.join(role.resources)}{only}"


def _verbs(refusal: Refusal) -> tuple[str, ...]:
    """What composing takes, not only what failed first."""
    if refusal.only or refusal.verb == _IMPERSONATE:
        return (refusal.verb,)
    verbs = _WRITES if refusal.is_composed else _READS
    return verbs if refusal.verb in verbs else (*verbs, refusal.verb)


def _subject(user: str) -> str:
    if user.startswith(SERVICE_ACCOUNT):
        return f"--serviceaccount={user.removeprefix(SERVICE_ACCOUNT)}"
    return f"--user={shlex.quote(user)}"


def _name(user: str) -> str:
    if user.startswith(SERVICE_ACCOUNT):
        return f"service account {user.removeprefix(SERVICE_ACCOUNT).replace(':', '/')}"
    return f"user {user}"
