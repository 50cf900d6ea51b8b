"""The CRDs that resources are validated against: those of CRDs, XRDs and packages.

An XRD is converted to its CRDs. A Provider, Function or Configuration names a package whose CRDs and XRDs
come from the cache (`package_cache`), together with those of the packages that it depends on.
"""

from __future__ import annotations

from crossply.errors import CrossplyError
from crossply.manifests.manifest import Manifest
from crossply.schema.go_decode_errors import type_problem
from crossply.validation.package_cache import Cache
from crossply.values import Object

_DEFINITIONS = "apiextensions.crossplane.io"
_FIRST_DESIGN = ("InfrastructureDefinition", "ApplicationDefinition")
_DECODING = "error unmarshaling JSON: while decoding JSON"
_PACKAGES = {
    "Provider": "cannot get provider package image",
    "Function": "cannot get function package image",
    "Configuration": "cannot get package image",
}


class ExtensionError(CrossplyError):
    """A file or package that should define kinds cannot be used."""

    code = "CP-560"


class Extensions:
    """The CRDs collected so far, and the packages that are still to be looked up."""

    def __init__(self) -> None:
        self.crds: list[Object] = []
        self.packages: dict[str, None] = {}
        self.configurations: dict[str, Object | None] = {}
        self._definitions: dict[str, Object] = {}
        self._publications: list[Object] = []

    def add(self, manifests: list[Manifest]) -> None:
        """Take what defines kinds or names a package; other objects are passed over."""
        for manifest in manifests:
            try:
                self._add(manifest.value, *manifest.group_kind)
            except CrossplyError as problem:
                raise problem.at(f"{manifest.document.source}:{manifest.document.line}") from None
        self._publish()

    def add_packages(self, cache: Cache) -> None:
        """Take the CRDs and definitions of every package that was named, and of what those depend on."""
        for image in list(self.configurations):
            self._depend(image, cache)
        for image in self.packages:
            self.add(cache.load(image))

    def _add(self, value: Object, group: str, kind: str) -> None:
        if (group, kind) == ("apiextensions.k8s.io", "CustomResourceDefinition"):
            self.crds.append(_checked_crd(value))
        elif (group, kind) == (_DEFINITIONS, "CompositeResourceDefinition"):
            self.crds += _definition_crds(value)
        elif group == _DEFINITIONS and kind in _FIRST_DESIGN:
            self._add_first_design(value)
        elif (group, kind) == (_DEFINITIONS, "InfrastructurePublication"):
            self._publications.append(value)
        elif group == "pkg.crossplane.io" and kind in _PACKAGES:
            self._add_package(value, kind)
        elif (group, kind) == ("meta.pkg.crossplane.io", "Configuration"):
            self.configurations[str((value.get("metadata") or {}).get("name", ""))] = value

    def _add_first_design(self, value: Object) -> None:
        from crossply.schema.definition_crds import composite_crd

        crd = composite_crd(value)
        self.crds.append(crd)
        self._definitions[crd["metadata"]["name"]] = value

    def _publish(self) -> None:
        """Add the requirement that a publication offers, once its definition is known."""
        from crossply.kinds.application_and_infrastructure_definitions import parse_publication
        from crossply.schema.infrastructure_definition_crds import requirement_crd

        for publication in list(self._publications):
            definition = self._definitions.get(parse_publication(publication).definition)
            if definition is not None:
                self.crds.append(requirement_crd(publication, definition))
                self._publications.remove(publication)

    def _add_package(self, value: Object, kind: str) -> None:
        from crossply.values import field_path as paths

        try:
            image = paths.get_string(value, "spec.package")
        except CrossplyError as problem:
            raise ExtensionError(f"{_PACKAGES[kind]}: {problem}", hint="name a package") from None
        if kind == "Configuration":
            self.configurations[image] = None
        else:
            self.packages[image] = None

    def _depend(self, image: str, cache: Cache) -> None:
        configuration = self.configurations[image]
        if configuration is None:
            self.packages[image] = None
            configuration = self.configurations[image] = cache.configuration(image)
        for dependency, is_configuration in _dependencies(configuration):
            self.packages[dependency] = None
            if is_configuration and dependency not in self.configurations:
                self.configurations[dependency] = None
                self._depend(dependency, cache)


def _dependencies(configuration: Object) -> list[tuple[str, bool]]:
    """The images that a configuration depends on, and whether each is a configuration too."""
    spec = configuration.get("spec")
    listed = spec.get("dependsOn") if isinstance(spec, dict) else None
    images = []
    for dependency in listed if isinstance(listed, list) else ():
        kind = next(
            (key for key in ("package", "configuration", "provider", "function") if dependency.get(key)), ""
        )
        if kind:
            version = str(dependency.get("version", ""))
            images.append((f"{dependency[kind]}{_separator(version)}{version}", kind == "configuration"))
    return images


def _separator(version: str) -> str:
    return "@" if version.startswith("sha256:") else ":"


def _checked_crd(value: Object) -> Object:
    problem = type_problem(value, "v1.CustomResourceDefinition")
    if problem:
        raise ExtensionError(f"cannot unmarshal CRD YAML: {_DECODING}: {problem}")
    return value


def _definition_crds(value: Object) -> list[Object]:
    from crossply.kinds.definition_go_types import DefinitionDecodeError, decode_xrd
    from crossply.schema.definition_crds import claim_crd, composite_crd, offers_claim

    try:
        name = decode_xrd(value)["metadata"].get("name", "")
    except DefinitionDecodeError as problem:
        raise ExtensionError(f"cannot unmarshal XRD YAML: {_DECODING}: {problem}") from None
    crds = []
    for role, convert in (("composite", composite_crd), ("claim", claim_crd)):
        if role == "composite" or offers_claim(value):
            try:
                crds.append(convert(value))
            except CrossplyError as problem:
                sentence = f'cannot derive {role} CRD from XRD "{name}": {problem}'
                raise ExtensionError(sentence, hint=problem.hint) from None
    return crds


class GetCrdsError(CrossplyError):
    """The CRDs of extensions could not be fetched or written."""

    code = "CP-597"


def complete(crd: Object) -> Object:
    """A CRD, if it says which kind it defines, and in which versions."""
    spec = crd.get("spec") or {}
    names, versions = spec.get("names") or {}, spec.get("versions") or ()
    lacking = [name for name in ("group", "versions") if not spec.get(name)]
    lacking += [] if names.get("kind") else ["names.kind"]
    lacking += [] if all(version.get("name") for version in versions) else ["versions.name"]
    if lacking:
        name = (crd.get("metadata") or {}).get("name", "")
        fields = ", ".join(f"spec.{field}" for field in lacking)
        raise GetCrdsError(f'the definition "{name}" does not define a kind: it lacks {fields}')
    return crd


def with_schemas(crd: Object) -> Object:
    """A CRD without the versions that have no schema."""
    versions = crd["spec"]["versions"]
    with_schema = [version for version in versions if (version.get("schema") or {}).get("openAPIV3Schema")]
    return {**crd, "spec": {**crd["spec"], "versions": with_schema}}
