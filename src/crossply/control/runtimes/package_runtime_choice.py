"""Where packages run, by kind of package: the value of `--package-runtime`."""

from __future__ import annotations

from typing import NamedTuple

from crossply.errors import CrossplyError

DEPLOYMENT, EXTERNAL, CONTAINER = "Deployment", "External", "Container"
FUNCTION, PROVIDER = "Function", "Provider"
_ALLOWED = {FUNCTION: (DEPLOYMENT, CONTAINER, EXTERNAL), PROVIDER: (DEPLOYMENT, CONTAINER, EXTERNAL)}


class UnknownRuntime(CrossplyError):
    """`--package-runtime` names an unknown runtime or kind of package."""

    code = "CP-872"
    hint = (
        "use Deployment, Container or External, or one for each kind: Provider=External;Function=Deployment"
    )


class PackageRuntimes(NamedTuple):
    """The runtime of each kind of package."""

    function: str = DEPLOYMENT
    provider: str = DEPLOYMENT

    def of(self, kind: str) -> str:
        """The runtime of a kind of package."""
        return self.function if kind == FUNCTION else self.provider


ON_THIS_MACHINE = PackageRuntimes(CONTAINER, CONTAINER)


def parse_runtimes(text: str, default: PackageRuntimes = PackageRuntimes()) -> PackageRuntimes:  # noqa: B008
    """Read one runtime for all kinds, or `Kind=Runtime` for each, separated by semicolons.

    Kinds that are not named have the default.
    """
    if "=" not in text and default == ON_THIS_MACHINE:
        return PackageRuntimes(_known(FUNCTION, text), _known(PROVIDER, text))
    if "=" not in text:
        # Replicas on a cluster share the work: a Provider runs in a container of one only if that is said.
        provider = EXTERNAL if text == CONTAINER else text
        return PackageRuntimes(_known(FUNCTION, text), _known(PROVIDER, provider))
    chosen = {FUNCTION: default.function, PROVIDER: default.provider}
    for part in text.split(";"):
        kind, _, runtime = (word.strip() for word in part.partition("="))
        if kind not in chosen:
            raise UnknownRuntime(f"unknown package kind {kind!r} in {text!r}")
        chosen[kind] = _known(kind, runtime)
    return PackageRuntimes(chosen[FUNCTION], chosen[PROVIDER])


def _known(kind: str, runtime: str) -> str:
    if runtime not in _ALLOWED[kind]:
        raise UnknownRuntime(f"unsupported package runtime {runtime!r} for {kind}")
    return runtime
