"""The three kinds of packages, and in what they differ."""

from __future__ import annotations

from typing import NamedTuple

from crossply.control.kinds import (
    CONFIGURATION,
    CONFIGURATION_REVISION,
    FUNCTION,
    FUNCTION_REVISION,
    PROVIDER,
    PROVIDER_REVISION,
)
from crossply.kube.kind import Kind


class PackageKind(NamedTuple):
    """A kind of package and the kind of its revisions."""

    package: Kind
    revision: Kind
    has_runtime: bool = True
    calls_back: bool = False
    """Whether it has a certificate to be a client with."""
    rolls_out: bool = False
    """Whether several of its revisions may be active at once."""


FUNCTIONS = PackageKind(FUNCTION, FUNCTION_REVISION, rolls_out=True)
CONFIGURATIONS = PackageKind(CONFIGURATION, CONFIGURATION_REVISION, has_runtime=False)
PROVIDERS = PackageKind(PROVIDER, PROVIDER_REVISION, calls_back=True)
PACKAGE_KINDS = (FUNCTIONS, CONFIGURATIONS, PROVIDERS)
