"""Composite classes as a language of sandboxed workers. A program is a composite and the files of modules.

The response of a program is JSON for the process that called it.
"""

from __future__ import annotations

import hashlib
import logging
import sys
from base64 import b64encode
from importlib import import_module
from types import ModuleType
from typing import Any

import orjson

from crossply.compose.function_messages import SECOND
from crossply.functions.builtin.python.script_environment import (
    LAZY_IMPORTS,
    audit_hook,
    import_mentioned_modules,
)
from crossply.functions.builtin.pythonic import (
    assignment,
    composed_resources,
    composite,
    conditions,
    connection,
    credentials,
    message,
    message_collections,
    message_scalar,
    required_resources,
    results,
    value,
)
from crossply.functions.builtin.pythonic.composite_call import compose
from crossply.functions.builtin.pythonic.message import Collection, Message
from crossply.functions.builtin.pythonic.program import EXPORTS, Program, ProgramModules
from crossply.functions.builtin.pythonic.value import Value, plain
from crossply.functions.builtin.sandbox.worker import Answer
from crossply.values import Object

_PACKAGE = "crossplane.pythonic"
_COMPOSITE_MODULES = (
    *(composite, composed_resources, conditions, connection, credentials, required_resources, results),
)
_PROTOBUF_MODULES = (assignment, message, message_collections, message_scalar, value)


def prepare(program: bytes) -> None:
    if not program:
        _import_everything()
        return
    parts = orjson.loads(program)
    text = "\n".join((parts["composite"], *parts["files"].values()))
    import_mentioned_modules(text)
    if "async" in text:
        from crossply.functions.builtin.python import event_loop  # noqa: F401 - it cannot be imported later


def _import_everything() -> None:
    """Import what programs need, and what libraries import lazily, which fails inside the sandbox."""
    for name in (*LAZY_IMPORTS, "yaml", *(f"{__package__}.{name}" for name in _LATE)):
        import_module(name)
    _publish(_PACKAGE.partition(".")[0], {})
    _publish(_PACKAGE, EXPORTS)
    _publish(f"{_PACKAGE}.composite", _public_names(_COMPOSITE_MODULES))
    _publish(f"{_PACKAGE}.protobuf", {**_public_names(_PROTOBUF_MODULES), **EXPORTS})


_LATE = ("comparison", "origins", "protobuf_text", "text_format")


def _public_names(modules: tuple[ModuleType, ...]) -> dict[str, Any]:
    return {
        name: value
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, type) and not name.startswith("_") and value.__module__ == module.__name__
    }


def _publish(name: str, names: dict[str, Any]) -> None:
    """Have programs import a module of a name."""
    module = sys.modules[name] = ModuleType(name)
    vars(module).update(names, __path__=[])
    parent, _, last = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], last, module)


def load(program: bytes) -> Answer:
    parts = orjson.loads(program)
    modules = ProgramModules(parts["files"])
    sys.meta_path.insert(0, modules)
    loaded = Program(parts["composite"], modules)
    step = hashlib.sha256(parts["composite"].encode()).hexdigest()[:16]
    sys.addaudithook(audit_hook)
    return lambda question: _answer(loaded, step, question)


def _answer(program: Program, step: str, question: bytes) -> bytes:
    request: Object = orjson.loads(question)
    kind = program.composite_class()
    with program.stage("Instantiate"):
        instance = kind(False, request, logging.getLogger(_logger_name(request, kind)))
    with program.stage("Compose"):
        compose(instance, str(request["input"].get("step") or step), _run_coroutine)
        return orjson.dumps(_response_data(instance.response, request["desired"]["resources"]))


def _run_coroutine(running: Any) -> None:
    from crossply.functions.builtin.python.event_loop import run_coroutine

    run_coroutine(running)


def _logger_name(request: Object, kind: type) -> str:
    """The name of the composite resource, as in `org.example.App.web`."""
    xr = request["observed"].get("composite", {}).get("resource") or {}
    if not xr:
        return f"operation.{kind.__name__}"
    group = str(xr.get("apiVersion")).partition("/")[0].split(".")
    metadata = xr.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return ".".join((*reversed(group), str(xr.get("kind")), str(name)))


def _response_data(response: Message, before: Object) -> Object:
    """The response in protobuf's JSON, without the desired resources that are as in the request.

    `before` are the desired resources of the request. The names of those that are left out are beside it.
    """
    data: Object = {name: _data(item) for name, item in response._content.items()}
    desired = data.get("desired", {})
    resources = desired.get("resources", {})
    unchanged = [name for name, resource in resources.items() if before.get(name) == resource]
    changed = {name: resource for name, resource in resources.items() if name not in unchanged}
    data["desired"] = {**desired, "resources": changed}
    data["meta"] = _meta(data.get("meta", {}).get("ttl"))
    data["output"] = data.get("output") or None
    return {"response": data, "unchanged": unchanged}


def _data(item: Any) -> Any:
    if isinstance(item, Value):
        return plain(item)
    if isinstance(item, Collection):
        if isinstance(item._content, dict):
            return {name: _data(child) for name, child in item._content.items()}
        return [_data(child) for child in item._content]
    return b64encode(item).decode() if isinstance(item, bytes) else item


def _meta(ttl: Object | None) -> Object:
    if ttl is None:
        return {}
    total = int(ttl.get("seconds", 0)) * SECOND + int(ttl.get("nanos", 0))
    seconds, nanos = divmod(abs(total), SECOND)
    return {"ttl": f"{'-' if total < 0 else ''}{seconds}.{nanos:09d}s"}
