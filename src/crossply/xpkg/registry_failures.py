"""What registries refuse, as a tree; their own sentence is kept."""

from __future__ import annotations

from typing import Any

import orjson

from crossply.xpkg.failures import PackagesError

_LONGEST_SENTENCE = 200
_USUAL = {
    401: "UNAUTHORIZED: authentication required",
    403: "DENIED: requested access to the resource is denied",
}
"""What registries say; an answer to HEAD has no words of its own."""


class RegistryError(PackagesError):
    """A registry refused a request, or returned an invalid response."""

    code = "CP-922"
    status = 0


class NotInRegistry(RegistryError):
    """A registry has no such image, or shows it only to users who are logged in."""

    code = "CP-923"
    hint = "check the repository and the tag, and whether you must log in to see them"


class NotAllowed(RegistryError):
    """A registry requires a login, or the login has no access."""

    code = "CP-924"
    hint = (
        "log in to the registry with docker login, podman login or a pull secret that may use the repository"
    )


class RegistryUnreachable(RegistryError):
    """A registry does not answer."""

    code = "CP-925"
    hint = "check the name of the registry and the network"


class PullTimedOut(RegistryUnreachable):
    """An image was not pulled before the deadline."""

    code = "CP-928"
    hint = "if the registry is slow, raise --image-pull-timeout of the control plane"


class MalformedAnswer(RegistryError):
    """The server at the address of a registry does not return valid HTTP, or redirects to no address."""

    code = "CP-927"
    hint = "check the address of the registry; a proxy in between can also be the cause"


def refusal(method: str, url: str, status: int, reason: str, body: bytes, hint: str = "") -> RegistryError:
    """The error for an unsuccessful response; the hint is for a user without access."""
    message = (
        _error_message(body) or _USUAL.get(status) or f"unexpected status code {status} {reason}".rstrip()
    )
    kinds = {401: NotAllowed, 403: NotAllowed, 404: NotInRegistry}
    kind = kinds.get(status, RegistryError)
    error = kind(f"{method} {url}: {message}", hint=hint if kind is NotAllowed else "")
    error.status = status
    return error


def _error_message(body: bytes) -> str:
    try:
        answer: Any = orjson.loads(body)
        first = answer["errors"][0]
        sentence = ": ".join(part for part in (first.get("code"), first.get("message")) if part)
    except (orjson.JSONDecodeError, LookupError, TypeError, AttributeError):
        return ""
    # It ends up in conditions and terminals: one line, without control characters.
    plain = "".join(char if char.isprintable() else " " for char in sentence[:_LONGEST_SENTENCE])
    return " ".join(plain.split())
