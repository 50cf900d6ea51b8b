"""The names that scripts have besides those of Starlark."""

from __future__ import annotations

from crossply.functions.builtin.environment_configs.function import CONTEXT_KEY
from crossply.functions.builtin.starlark import schemas
from crossply.functions.builtin.starlark.conversion import frozen, mutable
from crossply.functions.builtin.starlark.desired_resources import DesiredResources
from crossply.functions.builtin.starlark.language.failures import EvalError
from crossply.functions.builtin.starlark.language.json_module import JSON
from crossply.functions.builtin.starlark.language.values import Builtin, FrozenAttrDict, Struct, Value
from crossply.functions.builtin.starlark.library.crypto import CRYPTO
from crossply.functions.builtin.starlark.library.dicts import DICT
from crossply.functions.builtin.starlark.library.encodings import ENCODING
from crossply.functions.builtin.starlark.library.regexes import REGEX
from crossply.functions.builtin.starlark.library.yaml_module import YAML
from crossply.functions.builtin.starlark.request_lookups import Readers
from crossply.functions.builtin.starlark.response_builtins import Collected
from crossply.values import Object

_MISSING_STATE: Object = {"composite": {"resource": {}}, "resources": {}}


def _struct(args: tuple[Value, ...], kwargs: dict[str, Value]) -> Struct:
    if args:
        raise EvalError("struct: unexpected positional arguments")
    return Struct(kwargs)


_ALWAYS: dict[str, Value] = {
    **schemas.BUILTINS,
    "struct": Builtin("struct", _struct),
    "json": JSON,
    "crypto": CRYPTO,
    "encoding": ENCODING,
    "dict": DICT,
    "regex": REGEX,
    "yaml": YAML,
}


class Environment:
    """What a script reads of a request, and what its calls collect."""

    def __init__(self, request: Object) -> None:
        observed = request["observed"]
        self.composite: Object = observed["composite"]["resource"]
        self.observed: dict[str, Object] = {
            name: item["resource"] for name, item in observed["resources"].items()
        }
        self.collected = Collected()
        self.desired = DesiredResources(self.collected, self.composite, self.observed)
        self.dxr = mutable(request["desired"]["composite"]["resource"])
        self.context: dict[str, Value] = request["context"]
        resources = request["required_resources"] or request["extra_resources"]
        self._extra = {name: _items(group["items"]) for name, group in resources.items()}
        environment = request["context"].get(CONTEXT_KEY)
        self._environment = frozen(environment) if isinstance(environment, dict) else FrozenAttrDict()

    def predeclared(self) -> dict[str, Value]:
        """The predeclared names and their values."""
        observed = frozen(self.observed)
        return {
            **_ALWAYS,
            **self.collected.builtins(),
            **self.desired.builtins(),
            **Readers(self.dxr, observed, self._extra).builtins(),
            "oxr": frozen(self.composite),
            "dxr": self.dxr,
            "observed": observed,
            "context": self.context,
            "environment": self._environment,
            "extra_resources": FrozenAttrDict(self._extra),
        }


def _items(items: list[Object]) -> Value:
    """The resources that were found for a requirement; None for none."""
    return frozen([item["resource"] for item in items]) if items else None


NAMES = frozenset(
    Environment(
        {
            "observed": _MISSING_STATE,
            "desired": _MISSING_STATE,
            "context": {},
            "required_resources": {},
            "extra_resources": {},
        }
    ).predeclared()
)
"""The predeclared names."""
