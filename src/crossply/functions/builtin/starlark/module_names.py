"""The names of modules in load statements.

`oci://REGISTRY/REPOSITORY:TAG/FILE.star` is a file of an artifact in a registry, `REPOSITORY:TAG/FILE.star`
one in the default registry, `./FILE.star` one of the artifact of the file that loads it. Any other name is
that of a module in the input.
"""

from __future__ import annotations

from typing import NamedTuple

from crossply.values.goquote import quote

SCHEME = "oci://"
_DIGEST = "@sha256:"
_SUFFIX = ".star"


class ModuleNameError(Exception):
    """A load statement names no module; the message says why."""


class NoDefaultRegistry(ModuleNameError):
    """A load statement needs a default registry, and there is none."""


class RegistryModule(NamedTuple):
    """A file of an artifact in a registry."""

    name: str
    """As a load statement names it, in full."""
    reference: str
    """The artifact."""
    file: str


def full_name(module: str, caller: str, default_registry: str) -> str:
    """The name of a module in full, as a file names it; raises ModuleNameError."""
    if is_package_local(module):
        if not caller.startswith(SCHEME):
            raise ModuleNameError(
                f"package-local load {quote(module)} is only valid from OCI modules; caller {quote(caller)} "
                "is not an OCI module"
            )
        return f"{SCHEME}{parse(caller).reference}/{module.removeprefix('./')}"
    if module.startswith(SCHEME):
        return module
    if ":" in module:
        if not default_registry:
            raise NoDefaultRegistry(
                f"load target {quote(module)} requires a default OCI registry; set "
                "STARLARK_OCI_DEFAULT_REGISTRY env var on the function pod or spec.ociDefaultRegistry in "
                "function input"
            )
        return f"{SCHEME}{default_registry}/{module}"
    if "/" in module or "\\" in module:
        raise ModuleNameError(f"module name {quote(module)} must not contain path separators")
    if not module.endswith(_SUFFIX):
        raise ModuleNameError(f"module name {quote(module)} must end with {_SUFFIX}")
    return module


def checked_registry(registry: str) -> str:
    """A default registry, without a scheme; raises BadReference for one that is none."""
    registry = registry.removeprefix(SCHEME).rstrip("/")
    if registry:
        from crossply.xpkg.failures import PackagesError
        from crossply.xpkg.image_reference import parse

        try:
            parse(f"{registry}/validate:v1", strict=True)
        except PackagesError as error:
            raise error.within(f"invalid default OCI registry {quote(registry)}") from None
    return registry


def is_package_local(module: str) -> bool:
    """Whether a name is that of a file beside the one that loads it."""
    return module.startswith("./") and module.endswith(_SUFFIX) and "/" not in module[2:]


def parse(name: str) -> RegistryModule:
    """The artifact and the file of a full name; raises ModuleNameError."""
    rest = name.removeprefix(SCHEME)
    if not rest:
        raise ModuleNameError(f"OCI load target {quote(name)} missing file path after {SCHEME}")
    reference, file = _split(name, rest)
    if not file.endswith(_SUFFIX):
        raise ModuleNameError(f"OCI load target file {quote(file)} must end with {_SUFFIX}")
    return RegistryModule(name, reference, file)


def _split(name: str, rest: str) -> tuple[str, str]:
    """The reference, up to its tag or digest, and the file behind it."""
    index, kind = rest.find(_DIGEST), "digest"
    start = index + len(_DIGEST)
    if index < 0:
        index, kind = rest.rfind(":"), "tag"
        start = index + 1
    if index < 0:
        problem = "tag or digest required" if rest.endswith(_SUFFIX) and "/" in rest else "missing file path"
        raise ModuleNameError(f"parsing OCI load target {quote(name)}: {problem}")
    version, slash, file = rest[start:].partition("/")
    if not slash or not file:
        raise ModuleNameError(f"parsing OCI load target {quote(name)}: missing file path after {kind}")
    return rest[:start] + version, file
