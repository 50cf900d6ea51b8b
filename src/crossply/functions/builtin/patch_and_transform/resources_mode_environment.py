"""The environment of a Composition in `mode: Resources`, as Crossplane 1.11 to 1.17 selected and merged it.

The EnvironmentConfigs are required resources of the native step. Once they are selected, their names are kept
in an annotation of the XR, and used from then on unless the Composition says `policy.resolve: Always`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from crossply.compose.function_messages import Request, ResourceSelector
from crossply.compose.object_metadata import annotations_of, name_of
from crossply.functions.builtin.environment_configs.merge import merge
from crossply.functions.builtin.patch_and_transform.errors import Fatal, FieldError, invalid, required
from crossply.functions.builtin.patch_and_transform.input_decoder import DecodeError, decode
from crossply.functions.builtin.patch_and_transform.input_schema import ENVIRONMENT_CONFIGURATION
from crossply.functions.builtin.patch_and_transform.resources_mode_defaults import set_environment_defaults
from crossply.functions.field_provenance import ENVIRONMENT_KEY
from crossply.kinds.composition_native_step import ENVIRONMENT_REFERENCES
from crossply.values import Object
from crossply.values.field_path import PathError, get
from crossply.values.go_type_names import go_type
from crossply.values.goformat import sprintf
from crossply.values.goquote import quote
from crossply.values.protobuf_struct import from_wire

_API_VERSION, _KIND = "apiextensions.crossplane.io/v1beta1", "EnvironmentConfig"
_NO_CONFIG = (
    "cannot fetch environment: cannot fetch environment configs: failed to get config set from reference: "
    "environmentconfigs.apiextensions.crossplane.io {} not found{}"
)
_SELECTED_BEFORE = f" (selected before: remove the annotation {ENVIRONMENT_REFERENCES} to select again)"
_SELECT = "cannot select environment: failed to build reference at index {}: {}"


class Source(NamedTuple):
    """Where configs come from: a name, or labels and a selector."""

    name: str
    selector: Object | None = None
    labels: dict[str, str] = {}  # noqa: RUF012 - read only


class Selected(NamedTuple):
    """An EnvironmentConfig that is merged into the environment; it is empty where it is missing."""

    source: int
    """The index of the source that selects it."""
    name: str
    config: Object


class NativeEnvironment:
    """The environment of one request."""

    def __init__(self, request: Request, written: Object) -> None:
        """Read the Composition's `environment`; raises Fatal where it is invalid."""
        self._request = request
        self._xr = request.observed.composite.object if request.observed.composite else {}
        self._settings = _decoded(written)
        policy = self._settings.get("policy", {})
        self._is_optional = policy.get("resolution") == "Optional"
        self.keeps_selection = policy.get("resolve") != "Always" and bool(self._configs)
        """Whether the XR keeps what is selected."""
        recorded = _recorded_references(self._xr)
        self.reads_recorded = self.keeps_selection or not self._configs
        """Whether what was selected before would be used."""
        self.uses_recorded = bool(recorded) and self.reads_recorded
        self.sources = [Source(name) for name in recorded] if self.uses_recorded else self._selected_sources()

    @property
    def _configs(self) -> list[Object]:
        configs: list[Object] = self._settings.get("environmentConfigs", [])
        return configs

    @property
    def default_data(self) -> Object:
        data: Object = self._settings.get("defaultData", {})
        return data

    @property
    def provided(self) -> Object:
        """The environment that the request has."""
        context = (self._request.context or {}).get(ENVIRONMENT_KEY)
        return context if type(context) is dict else {}

    def requirements(self) -> dict[str, ResourceSelector]:
        """What has to be fetched. A selector whose labels are all optional and missing selects nothing."""
        return {
            _requirement_name(index): _selector(source)
            for index, source in enumerate(self.sources)
            if source.selector is None or source.labels
        }

    def is_fetched(self) -> bool:
        """Whether the request has all that is required."""
        return all(name in self._request.required_resources for name in self.requirements())

    def fetched(self, index: int) -> list[Object]:
        """What was fetched for a source."""
        resources = self._request.required_resources.get(_requirement_name(index), ())
        return [resource.object for resource in resources]

    def select(self) -> list[Selected]:
        """The selected configs in the order in which they are merged. Raises Fatal."""
        selected: list[Selected] = []
        for index, source in enumerate(self.sources):
            configs = self.fetched(index)
            if source.selector is not None:
                matching = _matching(configs, source.selector, index)
                selected += [Selected(index, name_of(config), config) for config in matching]
            elif configs or self._is_optional:
                selected.append(Selected(index, source.name, configs[0] if configs else {}))
            else:
                hint = _SELECTED_BEFORE if self.uses_recorded else ""
                raise Fatal(_NO_CONFIG.format(quote(source.name), hint))
        return selected

    def merge(self, configs: Iterable[Object]) -> Object:
        """The environment: default data, over it what `render` has in the context, and the configs' data."""
        environment = merge(self.default_data, self.provided)
        for config in configs:
            data = config.get("data")
            if isinstance(data, dict):
                environment = merge(environment, data)
        return {**environment, "apiVersion": "internal.crossplane.io/v1alpha1", "kind": "Environment"}

    def _selected_sources(self) -> list[Source]:
        return [self._source(config, index) for index, config in enumerate(self._configs)]

    def _source(self, config: Object, index: int) -> Source:
        if config["type"] == "Reference":
            return Source(config["ref"]["name"])
        try:
            return Source("", config["selector"], self._labels(config["selector"]["matchLabels"]))
        except PathError as error:
            raise Fatal(_SELECT.format(index, error)) from None

    def _labels(self, matchers: list[Object]) -> dict[str, str]:
        labels = {}
        for index, matcher in enumerate(matchers):
            if matcher["type"] == "Value":
                labels[matcher["key"]] = matcher["value"]
                continue
            try:
                value = from_wire(get(self._xr, matcher["valueFromFieldPath"]))
            except PathError as error:
                if error.not_found and matcher["fromFieldPathPolicy"] == "Optional":
                    continue
                raise PathError(f"failed to resolve value for label at index {index}: {error}") from None
            labels[matcher["key"]] = sprintf("%v", [value])
        return labels


def _decoded(written: Object) -> Object:
    try:
        settings: Object = decode(written, ENVIRONMENT_CONFIGURATION)
        set_environment_defaults(settings)
        _validate_sources(settings.get("environmentConfigs", []))
    except DecodeError as error:
        raise Fatal(f"cannot read Composition: {error}") from None
    except FieldError as error:
        raise Fatal(f"invalid Composition: spec.environment.{error}") from None
    return settings


def _recorded_references(xr: Object) -> list[str]:
    """The configs that were selected before, by us or by Crossplane, which had a field for them."""
    recorded = annotations_of(xr).get(ENVIRONMENT_REFERENCES)
    if recorded:
        return str(recorded).split(",")
    try:
        references = get(xr, "spec.environmentConfigRefs")
    except PathError:
        return []
    items = references if isinstance(references, list) else []
    names = [item.get("name") for item in items if isinstance(item, dict)]
    return [name for name in names if isinstance(name, str) and name]


def _requirement_name(index: int) -> str:
    return f"environment-config-{index}"


def _selector(source: Source) -> ResourceSelector:
    if source.selector is None:
        return ResourceSelector(_API_VERSION, _KIND, match_name=source.name)
    return ResourceSelector(_API_VERSION, _KIND, match_labels=source.labels)


def _matching(configs: list[Object], selector: Object, index: int) -> list[Object]:
    count = len(configs)
    if selector["mode"] == "Single":
        if count != 1:
            problem = f"only 1 EnvironmentConfig can be selected in Single mode, found: {count}"
            raise Fatal(_SELECT.format(index, problem))
        return configs
    least = selector.get("minMatch", 0)
    if count < least:
        problem = f"expected at least {least} EnvironmentConfig(s) with matching labels, found: {count}"
        raise Fatal(_SELECT.format(index, problem))
    try:
        return _sorted(configs, selector["sortByFieldPath"])[: selector.get("maxMatch")]
    except PathError as error:
        raise Fatal(_SELECT.format(index, error)) from None


def _sorted(configs: list[Object], path: str) -> list[Object]:
    """Sort configs by a field that all of them have, with values of one type."""
    keyed: list[tuple[Any, Object]] = []
    for config in configs:
        value = from_wire(get(config, path))
        kind = go_type(value)
        if kind not in ("string", "int64", "float64"):
            raise PathError(f"unexpected type {kind}")
        if keyed and go_type(keyed[0][0]) != kind:
            expected = go_type(keyed[0][0])
            raise PathError(sprintf("not matching types, got %v (%T), expected %s", [value, value, expected]))
        keyed.append((value, config))
    return [config for _, config in sorted(keyed, key=lambda pair: pair[0])]


def _validate_sources(sources: list[Object]) -> None:
    """Raise FieldError for the first source that is incomplete or invalid."""
    for index, source in enumerate(sources):
        path = f"environmentConfigs[{index}]"
        if source["type"] == "Reference":
            _validate_reference(source, path)
        elif source["type"] == "Selector":
            _validate_selector(source, path)
        else:
            raise invalid(f"{path}.type", source["type"], "invalid type")


def _validate_reference(source: Object, path: str) -> None:
    if "ref" not in source:
        raise required(f"{path}.ref", "ref is required")
    if not source["ref"].get("name"):
        raise required(f"{path}.ref.name", "name is required")


def _validate_selector(source: Object, path: str) -> None:
    selector = source.get("selector")
    if selector is None:
        raise required(f"{path}.selector", "selector is required")
    path = f"{path}.selector"
    if not selector.get("matchLabels"):
        raise required(f"{path}.matchLabels", "selector must have at least one match label")
    if selector["mode"] not in ("Single", "Multiple"):
        raise invalid(f"{path}.mode", selector["mode"], "must be Single or Multiple")
    for field in ("maxMatch", "minMatch"):
        if field in selector and selector["mode"] == "Single":
            raise FieldError(f"{path}.{field}: Forbidden: {field} is not supported in Single mode")
        if selector.get(field, 0) < 0:
            raise invalid(f"{path}.{field}", str(selector[field]), "must not be negative")
    for index, matcher in enumerate(selector["matchLabels"]):
        _validate_matcher(matcher, f"{path}.matchLabels[{index}]")


def _validate_matcher(matcher: Object, path: str) -> None:
    if not matcher.get("key"):
        raise required(f"{path}.key", "key is required")
    fields = {"FromCompositeFieldPath": "valueFromFieldPath", "Value": "value"}
    if matcher["type"] not in fields:
        raise invalid(f"{path}.type", matcher["type"], "invalid type")
    field = fields[matcher["type"]]
    if field not in matcher:
        raise required(f"{path}.{field}", f"{field} is required")
    if not matcher[field]:
        raise required(f"{path}.{field}", f"{field} must not be empty")
