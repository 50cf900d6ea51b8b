"""`crossply resource validate`: validate resources against XRDs, CRDs and the CRDs of packages, offline."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from crossply.cli.framework.command import Argument, Command, Flag, Invocation
from crossply.errors import CrossplyError
from crossply.manifests.manifest import load_manifests
from crossply.validation.extension_schemas import Extensions
from crossply.validation.package_cache import Cache
from crossply.values import Object

if TYPE_CHECKING:
    from crossply.validation.resource_validation import Outcome

_CORE_GROUPS = ("apiextensions.crossplane.io", "pkg.crossplane.io")
_OUTPUTS = ("text", "json", "yaml")
_IMAGE = "xpkg.crossplane.io/crossplane/crossplane:stable"


class ValidateError(CrossplyError):
    """The validation could not be run."""

    code = "CP-563"


class InvalidResourcesError(CrossplyError):
    """At least one resource is not valid, or a required schema is missing."""

    code = "CP-564"


def run(invocation: Invocation) -> int:
    """Read, validate, print; fails when a resource is invalid."""
    from crossply.cli.validate.output import Summary
    from crossply.validation.resource_validation import Schemas

    if invocation["extensions"] == invocation["resources"] == "-":
        raise ValidateError("cannot use stdin for both extensions and resources")
    extensions = load_manifests(invocation["extensions"], "extensions", invocation.stdin)
    resources = load_manifests(invocation["resources"], "resources", invocation.stdin)
    known = Extensions()
    _within("cannot prepare extensions", lambda: known.add(extensions))
    _within("cannot download and load cache", lambda: _add_packages(known, invocation))
    schemas = Schemas(_as_installed(known.crds))
    outcomes = [schemas.validate(manifest) for manifest in resources]
    invocation.stdout.write(_shown(outcomes, invocation))
    summary = Summary(outcomes)
    if summary.invalid:
        raise InvalidResourcesError("could not validate all resources")
    if summary.missing and invocation["error-on-missing-schemas"]:
        raise InvalidResourcesError("could not validate all resources, schema(s) missing")
    return 0


def _within(purpose: str, step: Callable[[], None]) -> None:
    try:
        step()
    except CrossplyError as problem:
        raise ValidateError(f"{purpose}: {problem}", place=problem.place, hint=problem.hint) from None


def _add_packages(extensions: Extensions, invocation: Invocation) -> None:
    from crossply.xpkg.user_image_pull import package_stream

    directory = os.path.expanduser(invocation["cache-dir"])
    cache = Cache(directory, lambda image: package_stream(invocation, image))
    if invocation["clean-cache"]:
        cache.clean()
    image = invocation["crossplane-image"]
    if image and (invocation.is_set("crossplane-image") or cache.has(image)):
        extensions.packages[image] = None
    extensions.add_packages(cache)


def _as_installed(crds: list[Object]) -> list[Object]:
    """The CRDs as a control plane has them: it adds fields and versions to Crossplane's own."""
    if not any((crd.get("spec") or {}).get("group") in _CORE_GROUPS for crd in crds):
        return crds
    from crossply.control.definitions.core_crds import extended

    return [extended(crd) for crd in crds]


def _shown(outcomes: list[Outcome], invocation: Invocation) -> str:
    from crossply.cli.validate.output import as_json_text, as_object, as_text

    places = invocation["show-locations"]
    if invocation["output"] == "text":
        return as_text(outcomes, invocation["skip-success-results"], places, invocation.style)
    if invocation["output"] == "json":
        return as_json_text(as_object(outcomes, places))
    from crossply.values.yaml import dump

    return dump(as_object(outcomes, places))


def parse_output(text: str) -> str:
    """Read the name of an output format."""
    if text not in _OUTPUTS:
        raise ValueError(f'unknown output format: "{text}"')
    return text


_SOURCES = "sources as a comma-separated list of files, directories, or '-' for standard input."

COMMAND = Command(
    "validate",
    "Validate resources against XRDs and CRDs.",
    run,
    arguments=(
        Argument("extensions", f"Extension {_SOURCES}"),
        Argument("resources", f"Resource {_SOURCES}"),
    ),
    flags=(
        Flag(
            "cache-dir",
            "Absolute path to the cache directory for downloaded schemas.",
            kind="string",
            default="~/.crossplane/cache",
        ),
        Flag("clean-cache", "Clean the cache directory before downloading package schemas."),
        Flag(
            "crossplane-image",
            "Specify the Crossplane image for validating built-in schemas. The default one is used only when "
            "it is in the cache.",
            kind="string",
            default=_IMAGE,
        ),
        Flag("error-on-missing-schemas", "Return non zero exit code if missing schemas."),
        Flag(
            "output",
            "Output format for validation results (text, json, or yaml).",
            short="o",
            kind="string",
            default="text",
            parse=parse_output,
        ),
        Flag("show-locations", "Show the file and line of each error, where it is known."),
        Flag("skip-success-results", "Skip printing success results."),
        Flag(
            "update-cache",
            "No effect: a constraint uses the cached version; --clean-cache downloads all schemas again.",
            no_effect="a constraint uses the cached version; --clean-cache downloads all schemas again",
        ),
    ),
    description=(
        "Fills in defaults, then checks each resource against its schema: types and constraints, unknown\n"
        "fields, CEL rules. Definitions (XRDs of v1 and v2, and those of the first design) are converted to\n"
        "CRDs. Kinds that Kubernetes itself serves are read strictly. The schemas of packages (Provider,\n"
        "Function, Configuration) and of Crossplane's own kinds are taken from the cache directory; what is\n"
        "not there is fetched from its registry."
    ),
    examples=(
        "crossply resource validate xrd.yaml xr.yaml",
        "crossply resource validate crds/,xrds/ resources/ --error-on-missing-schemas",
        "crossply render xr.yaml composition.yaml functions.yaml -x | crossply validate xrds/ -",
        "crossply resource validate xrd.yaml xr.yaml --show-locations",
    ),
)
