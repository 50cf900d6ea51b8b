"""The package that `xpkg install` and `xpkg update` are called with: its kind, its image and its name."""

from __future__ import annotations

from crossply.cli.framework.command import Argument, Invocation
from crossply.errors import CrossplyError
from crossply.kube.kind import Kind

KINDS = {
    "provider": Kind("pkg.crossplane.io", "v1", "Provider", "providers", False),
    "configuration": Kind("pkg.crossplane.io", "v1", "Configuration", "configurations", False),
    "function": Kind("pkg.crossplane.io", "v1", "Function", "functions", False),
}


def arguments(verb: str) -> tuple[Argument, ...]:
    """The arguments of both commands."""
    return (
        Argument(
            "kind",
            f'The kind of package to {verb}. One of "provider", "configuration", or "function".',
            choices=tuple(KINDS),
        ),
        Argument("package", "The package image: registry, repository, and tag or digest."),
        Argument("name", "The name of the package. Derived from the repository by default.", optional=True),
    )


def name_of(invocation: Invocation) -> str:
    """The name argument, or a name derived from the repository."""
    from crossply.xpkg.dns_names import to_dns_label
    from crossply.xpkg.image_reference import parse

    if invocation["name"]:
        return str(invocation["name"])
    try:
        return to_dns_label(parse(invocation["package"], strict=True).repository)
    except CrossplyError as problem:
        raise problem.within("invalid package image identifier") from None


def as_arguments(invocation: Invocation) -> str:
    """The arguments of this command, for a command line of the other one."""
    return " ".join(filter(None, (invocation[key] for key in ("kind", "package", "name"))))
