"""The operator's settings for packages."""

from __future__ import annotations

from typing import NamedTuple

from crossply.xpkg.keychain import Keychain
from crossply.xpkg.registry_session import Trust

HOME = "crossplane-system"


class PackageSettings(NamedTuple):
    """Where packages come from, and where they are kept."""

    directory: str = ""
    """Where packages that were fetched are kept; empty for nowhere."""
    trust: Trust = Trust()
    """Whom to believe that they are a registry."""
    logins: Keychain | None = None
    """Logins besides those of pull secrets, such as the user's own."""
    namespace: str = HOME
    """Where pull secrets and keys are."""
    service_account: str = "crossplane"
    """Whose pull secrets are used for all packages."""
