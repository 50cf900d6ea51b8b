"""The identity that a bearer token proves, and the errors of tokens."""

from __future__ import annotations

from dataclasses import dataclass

from crossply.apiserver.endpoints.request_info import User
from crossply.errors import CrossplyError


class TokenRefused(CrossplyError):
    """A bearer token is invalid. Clients only learn that they are not authorized."""

    code = "CP-630"


class TokenFileError(CrossplyError):
    """The file of static tokens cannot be read."""

    code = "CP-631"
    hint = 'each line is: token,user name,user uid,"group,group"'


class SigningKeyError(CrossplyError):
    """The key that signs service account tokens cannot be used."""

    code = "CP-632"
    hint = "a PEM file with an RSA key of at least 2048 bits or an elliptic key on the curve P-256"


@dataclass(frozen=True, slots=True)
class TokenIdentity:
    """The user of a token, and its valid audiences."""

    user: User
    audiences: tuple[str, ...]
