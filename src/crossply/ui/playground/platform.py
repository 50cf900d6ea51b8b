"""What a playground renders with: the definitions, Compositions and Functions of a control plane."""

from __future__ import annotations

from collections.abc import Iterable

from crossply.compose.engine_field_paths import Machinery, machinery_at
from crossply.compose.object_metadata import name_of, text_in
from crossply.compose.selection import CompositionChoice, select_composition
from crossply.errors import CrossplyError
from crossply.functions import builtin
from crossply.functions.binding import BUILTIN, REMOTE, choose_runtime
from crossply.functions.host_access_policy import HostAccess
from crossply.kinds.composition import Composition, TypeRef, parse_composition
from crossply.kinds.definition import Definition, parse_definition
from crossply.schema.definition_crds import composite_crd
from crossply.values import Object

_SHELL = "shell"


class UnrenderableKind(CrossplyError):
    """The playground has no definition or no Composition for a kind."""

    code = "CP-898"
    hint = "choose a definition that has a Composition, or use crossply render with files"


class Platform:
    """A snapshot of a control plane: nothing in it changes during a rendering."""

    def __init__(
        self, definitions: Iterable[Object], compositions: Iterable[Object], functions: Iterable[Object]
    ) -> None:
        self._definitions = _by_type(definitions)
        self._compositions = [parsed for obj in compositions if (parsed := _parsed(obj)) is not None]
        self._functions = {name_of(function): function for function in functions}

    @property
    def definitions(self) -> list[Object]:
        return list(self._definitions.values())

    def definition_of(self, obj: Object) -> Object | None:
        """The definition of a composite resource; None for any other object."""
        return self._definitions.get(_type_of(obj))

    def composition_for(self, xr: Object, preferred: str = "") -> Composition:
        """The Composition of a composite resource: the preferred one, or the one that would be selected."""
        definition = self.definition_of(xr)
        if definition is None:
            raise UnrenderableKind(f"no definition defines {_name(_type_of(xr))}")
        parsed = parse_definition(definition)
        name = preferred or self._selected(xr, parsed)
        for composition in self._compositions:
            if composition.name == name and composition.composite == _type_of(xr):
                _refuse_containers(composition)
                return composition
        raise UnrenderableKind(f'there is no Composition "{name}" for {_name(_type_of(xr))}')

    def _selected(self, xr: Object, definition: Definition) -> str:
        choices = (
            CompositionChoice(composition.name, composition.composite, composition.labels)
            for composition in sorted(self._compositions, key=lambda composition: composition.name)
        )
        # The control plane chooses any one of several; here it is always the first.
        return select_composition(
            xr,
            machinery_at(definition.machinery),
            choices,
            lambda names: names[0],
            enforced=definition.enforced_composition or "",
            default=definition.default_composition or "",
        ).name

    def compositions_of(self, definition: Object) -> list[str]:
        """The names of the Compositions for a definition's kind, sorted."""
        type_ = parse_definition(definition).composite
        return sorted(
            composition.name for composition in self._compositions if composition.composite == type_
        )

    def machinery_of(self, xr: Object) -> Machinery:
        """Where a composite resource has Crossplane's own fields."""
        definition = self.definition_of(xr)
        return machinery_at(
            parse_definition(definition).machinery if definition is not None else "crossplane"
        )

    def functions_of(self, composition: Composition, access: HostAccess) -> list[Object]:
        """The Functions of a pipeline that may be run here; built-in ones need not be installed."""
        functions = []
        for name in sorted({step.function for step in composition.steps}):
            function = self._functions.get(name) or _built_in(name)
            if function is not None and not why_not_runnable(function, access):
                functions.append(function)
        return functions


def _refuse_containers(composition: Composition) -> None:
    """A step may name an image instead of a Function; it would be run with the rights of this process."""
    names = [step.name for step in composition.steps if step.container is not None]
    if names:
        raise UnrenderableKind(
            f'Composition "{composition.name}" runs containers ({", ".join(names)}), '
            "and the playground runs none",
            hint="use crossply render with files",
        )


def why_not_runnable(function: Object, access: HostAccess) -> str:
    """Why a Function of the control plane is not run for a playground; empty where it is."""
    try:
        runtime = choose_runtime(function)
        package = text_in(function.get("spec") or {}, "package")
        if runtime == BUILTIN and builtin.sharing_name(package) == _SHELL:
            return "function-shell runs commands, and the playground runs none"
        if runtime in (BUILTIN, REMOTE):
            access.check(function)
            return ""
    except CrossplyError as problem:
        return str(problem)
    return "only built-in functions, and those that listen at an address, run in the playground"


def schema_at(definition: Object, api_version: str) -> Object:
    """The OpenAPI schema of a definition's kind at one version; empty where that is not served."""
    spec = composite_crd(definition)["spec"]
    for version in spec["versions"]:
        if f"{spec['group']}/{version['name']}" == api_version:
            schema: Object = version["schema"]["openAPIV3Schema"]
            return schema
    return {}


def _by_type(definitions: Iterable[Object]) -> dict[TypeRef, Object]:
    builtin_name = {}
    for definition in definitions:
        try:
            parsed = parse_definition(definition)
        except CrossplyError:
            continue
        for version in parsed.versions:
            builtin_name[TypeRef(f"{parsed.group}/{version.name}", parsed.names.kind)] = definition
    return builtin_name


def _parsed(obj: Object) -> Composition | None:
    try:
        return parse_composition(obj)
    except CrossplyError:
        return None


def _built_in(name: str) -> Object | None:
    builtin_name = builtin.find(name)
    if not builtin_name:
        return None
    return {
        "apiVersion": "pkg.crossplane.io/v1",
        "kind": "Function",
        "metadata": {"name": name},
        "spec": {"package": builtin.about(builtin_name).package},
    }


def _type_of(obj: Object) -> TypeRef:
    return TypeRef(text_in(obj, "apiVersion"), text_in(obj, "kind"))


def _name(type_: TypeRef) -> str:
    return f"{type_.kind}, {type_.api_version}"
