"""What is wrong with a provider's code, found before it runs."""

from __future__ import annotations

from crossply.errors import CrossplyError


class InvalidDeclaration(CrossplyError):
    """A class is not a managed resource or configuration that the provider kit can serve."""

    code = "CP-820"
    hint = "docs/reference/provider-kit.md lists the types and methods of a kind"


class UnexpectedValue(CrossplyError):
    """A field of a managed resource has a value that does not fit its declared type."""

    code = "CP-821"
    hint = "apply the provider's CRDs again, so that the API server checks this field"


class UnusableProviderDirectory(CrossplyError):
    """A directory is not the source of a provider on the provider kit."""

    code = "CP-822"
    hint = "crossply provider init NAME writes a directory that works"


class StalePackageFiles(CrossplyError):
    """The CRDs in a provider's package directory are not those of its code."""

    code = "CP-823"
    hint = "write them again: crossply provider build --crds-only"
