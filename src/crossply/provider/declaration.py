"""`@managed` and `@provider_config`: a class becomes a kind, checked when its module is imported."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar

from crossply.convert.plural import plural_of
from crossply.kube.kind import Kind
from crossply.provider.dataclass_fields import UndeclaredName, docstring, read_struct
from crossply.provider.decode import encode_value
from crossply.provider.field_model import (
    CredentialsField,
    Reference,
    Secret,
    SecretDataField,
    Struct,
    all_fields,
)
from crossply.provider.managed_kind import CONFIG, MANAGED, ManagedKind, ProviderConfigKinds, Settings
from crossply.provider.provider_declaration_errors import InvalidDeclaration, UnexpectedValue

Class = TypeVar("Class", bound=type)

ARGUMENTS = {
    "connect": ("config",),
    "disconnect": ("client",),
    "observe": ("ctx", "params"),
    "create": ("ctx", "params"),
    "update": ("ctx", "params"),
    "delete": ("ctx", "params"),
}
REQUIRED_METHODS = ("observe", "create", "delete")

GROUP = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+")
VERSION = re.compile(r"v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?")
KIND = re.compile(r"[A-Z][A-Za-z0-9]{0,61}")


def managed(
    *,
    group: str,
    kind: str = "",
    version: str = "v1alpha1",
    scope: Literal["Namespaced", "Cluster"] = "Namespaced",
    config: type | None = None,
    poll_interval: float = 60.0,
    deterministic_external_name: bool = True,
    concurrency: int = 10,
    timeout: float = 60.0,
    creation_grace_period: float = 30.0,
    plural: str = "",
    short_names: tuple[str, ...] = (),
    categories: tuple[str, ...] = ("crossplane", "managed"),
) -> Callable[[Class], Class]:
    """Declare a kind of managed resource. By default the kind has the name of the class."""
    names = _caller_names()

    def declare(cls: Class) -> Class:
        name = kind or cls.__name__
        _check_names(cls, group, version, name)
        if scope not in ("Namespaced", "Cluster"):
            raise InvalidDeclaration(f"{cls.__qualname__}: scope is {scope!r}, not Namespaced or Cluster")
        _check_methods(cls)
        namespace = {**names, **vars(cls), cls.__name__: cls}
        parameters = _parameters(cls, namespace)
        declared = ManagedKind(
            kind=Kind(group, version, name, plural or plural_of(name), scope == "Namespaced"),
            cls=cls,
            parameters=parameters,
            observed=_optional_struct(cls, "Observed", "status.atProvider", namespace),
            spec=_optional_struct(cls, "Spec", "spec", namespace),
            config=_config_kinds(cls, config),
            settings=Settings(
                poll_interval, timeout, concurrency, deterministic_external_name, creation_grace_period
            ),
            description=docstring(cls),
            short_names=tuple(short_names),
            categories=tuple(categories),
        )
        setattr(cls, MANAGED, declared)
        return cls

    return declare


def provider_config(
    *, group: str, version: str = "v1alpha1", cluster_scoped: bool = False
) -> Callable[[Class], Class]:
    """Declare what a provider needs to reach its external system: the spec of ProviderConfigs.

    With `cluster_scoped` there is only a ProviderConfig of the cluster, as in providers for Crossplane v1.
    """
    names = _caller_names()

    def declare(cls: Class) -> Class:
        _check_names(cls, group, version, "ProviderConfig")
        spec = read_struct(cls, {**names, **vars(cls)})
        _refuse(
            spec,
            (Reference, Secret),
            "of a provider's configuration",
            "use Credentials or SecretData for a secret",
        )
        _check_defaults(spec)
        namespaced = Kind(group, version, "ProviderConfig", "providerconfigs", not cluster_scoped)
        usage = Kind(group, version, "ProviderConfigUsage", "providerconfigusages", not cluster_scoped)
        kinds = ProviderConfigKinds(
            cls=cls,
            spec=spec,
            namespaced=namespaced,
            cluster=namespaced if cluster_scoped else _of_cluster(namespaced),
            namespaced_usage=usage,
            cluster_usage=usage if cluster_scoped else _of_cluster(usage),
            description=docstring(cls),
        )
        setattr(cls, CONFIG, kinds)
        return cls

    return declare


def _of_cluster(kind: Kind) -> Kind:
    return kind._replace(kind=f"Cluster{kind.kind}", plural=f"cluster{kind.plural}", namespaced=False)


def _caller_names() -> dict[str, Any]:
    """The names that are visible where the decorator stands, also inside of a function."""
    return dict(sys._getframe(2).f_locals)


def _check_names(cls: type, group: str, version: str, kind: str) -> None:
    for argument, text, form, example in (
        ("group", group, GROUP, "database.example.org"),
        ("version", version, VERSION, "v1alpha1"),
        ("kind", kind, KIND, "Database"),
    ):
        if not form.fullmatch(text):
            hint = f"write for example {argument}={example!r}"
            raise InvalidDeclaration(f"{cls.__qualname__}: {text!r} is not a valid {argument}", hint=hint)


def _check_methods(cls: type) -> None:
    for method in REQUIRED_METHODS:
        if not callable(getattr(cls, method, None)):
            raise InvalidDeclaration(
                f"{cls.__qualname__} has no method {method}",
                hint=f"write: async def {method}(self, {', '.join(ARGUMENTS[method])})",
            )
    for method, arguments in ARGUMENTS.items():
        function = inspect.getattr_static(cls, method, None)
        if inspect.isfunction(function) and not _takes(function, 1 + len(arguments)):
            expected = ", ".join(("self", *arguments))
            raise InvalidDeclaration(f"{cls.__qualname__}.{method} must take ({expected})")


def _takes(function: Callable[..., Any], count: int) -> bool:
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    return True


def _parameters(cls: type, namespace: Mapping[str, Any]) -> Struct:
    declared = getattr(cls, "Parameters", None)
    if not isinstance(declared, type):
        raise InvalidDeclaration(
            f"{cls.__qualname__} has no class Parameters",
            hint="write a @dataclass Parameters inside of it with the fields of spec.forProvider",
        )
    parameters = read_struct(declared, namespace)
    _refuse(parameters, (CredentialsField, SecretDataField), "of Parameters", "use SecretValue for a secret")
    for field in all_fields(parameters):
        if isinstance(field.type, Reference):
            _check_target(cls, field.name, field.type)
    _check_defaults(parameters)
    if not callable(getattr(cls, "update", None)) and not all(field.is_immutable for field in parameters):
        raise InvalidDeclaration(
            f"{cls.__qualname__} has no method update",
            hint="write: async def update(self, ctx, params), or make all its parameters Immutable",
        )
    return parameters


def _check_target(cls: type, field: str, reference: Reference) -> None:
    target = reference.target
    if target is not cls and MANAGED not in vars(target) and not issubclass(target, UndeclaredName):
        raise InvalidDeclaration(
            f"{cls.__qualname__}: field {field} refers to {target.__name__}, "
            "which is not decorated with @managed"
        )


def _optional_struct(cls: type, name: str, place: str, namespace: Mapping[str, Any]) -> Struct | None:
    fields = getattr(cls, name, None)
    if fields is None:
        return None
    struct = read_struct(fields, namespace)
    refused = (CredentialsField, Reference, Secret, SecretDataField)
    _refuse(struct, refused, f"of {name}", f"{place} has plain values")
    return struct


def _config_kinds(cls: type, config: type | None) -> ProviderConfigKinds | None:
    if config is None:
        return None
    kinds = vars(config).get(CONFIG)
    if not isinstance(kinds, ProviderConfigKinds):
        raise InvalidDeclaration(
            f"{cls.__qualname__}: config {config.__qualname__} is not decorated with @provider_config"
        )
    return kinds


def _refuse(struct: Struct, types: tuple[type, ...], of: str, hint: str) -> None:
    for field in all_fields(struct):
        if isinstance(field.type, types):
            name = type(field.type).__name__.removesuffix("Field")
            raise InvalidDeclaration(
                f"{struct.cls.__qualname__}: {field.name} cannot be a field {of}: it is a {name}", hint=hint
            )


def _check_defaults(struct: Struct) -> None:
    for field in all_fields(struct):
        if isinstance(field.type, (Secret, SecretDataField, CredentialsField)) and field.default is not None:
            raise InvalidDeclaration(
                f"{struct.cls.__qualname__}: {field.name} cannot have a default but None"
            )
        if field.default is not None:
            try:
                encode_value(field.type, field.default)
            except UnexpectedValue as error:
                raise InvalidDeclaration(
                    f"{struct.cls.__qualname__}: default of {field.name}: {error}"
                ) from error
