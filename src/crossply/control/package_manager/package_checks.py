"""What must be true of a package before anything of it is installed."""

from __future__ import annotations

import re
from collections.abc import Mapping

from crossply.compose.object_metadata import PAUSED_ANNOTATION
from crossply.control.calls.function_revision_runtime import PACKAGE
from crossply.errors import CrossplyError
from crossply.values import Object
from crossply.values.semver import parse
from crossply.values.semver_constraints import satisfies
from crossply.version import COMPATIBLE_CROSSPLANE
from crossply.xpkg.failures import LintFailed, WrongDigest
from crossply.xpkg.package_lint import check_constraint, check_single_meta
from crossply.xpkg.package_yaml import Package

COMPOSITION = "composition"
LOCAL_META: Object = {
    "kind": "Function",
    "metadata": {},
    "spec": {"capabilities": ["composition", "operation"]},
}
"""What stands for the description of a Function that needs no package."""
_SHORT_ID = re.compile(r"-([0-9a-f]{12})$")
_RUNTIME_PREFIXES = ("crossply.dev/", "render.crossplane.io/")
"""Say how a Function is run, which is the word of who installs it and never of the package itself."""
_OWN_KEYS = (PACKAGE, PAUSED_ANNOTATION)


class Incompatible(CrossplyError):
    """A package declares that it does not work with this version."""

    code = "CP-853"
    hint = "install another version of the package, or set ignoreCrossplaneConstraints"


def check_package(package: Package, kind: str) -> None:
    """Raise unless a package is described by one object, of this kind and with a valid constraint."""
    check_single_meta(package)
    if package.kind != kind:
        raise LintFailed(
            f"package meta type is not {kind}", hint=f"it is a {package.kind}: install it as one"
        )
    check_constraint(package.meta)


def check_digest(revision: str, digest: str) -> None:
    """Raise unless a package is the one that its revision is named after; its tag may stand for another."""
    named = _SHORT_ID.search(revision)
    if named is not None and not digest.partition(":")[2].startswith(named[1]):
        raise WrongDigest(f"the image is {digest} by now, which is not that of {revision}")


def check_version(meta: Object) -> None:
    """Raise unless a package works with the Crossplane that we are compatible with."""
    constraint = ((meta.get("spec") or {}).get("crossplane") or {}).get("version")
    if constraint is not None and not satisfies(constraint, parse(COMPATIBLE_CROSSPLANE)):
        message = f"package is not compatible with Crossplane version ({COMPATIBLE_CROSSPLANE})"
        raise Incompatible(message, hint=f"it wants {constraint}")


def capabilities(meta: Object) -> list[str]:
    """The capabilities that a package declares; a Function that declares none can compose."""
    declared = [str(capability) for capability in (meta.get("spec") or {}).get("capabilities") or ()]
    return declared or ([COMPOSITION] if meta["kind"] == "Function" else [])


def copied(values: Mapping[str, str]) -> dict[str, str]:
    """The labels or annotations of a package that its revision gets."""
    return {
        key: value
        for key, value in values.items()
        if not key.startswith(_RUNTIME_PREFIXES) and key not in _OWN_KEYS
    }
