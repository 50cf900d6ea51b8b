"""A program as bytes for a worker: its files, settings and constant options. Programs are remembered."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from time import monotonic
from typing import NamedTuple

from crossply.functions.builtin.kcl.core_protobuf import FLAG_FIELDS
from crossply.functions.builtin.kcl.input import Input
from crossply.functions.builtin.kcl.module_failures import ModuleError
from crossply.functions.builtin.kcl.module_source_policy import ModuleAccess
from crossply.functions.builtin.kcl.settings_files import merged_config
from crossply.functions.builtin.kcl.source_types import PROGRAM, ProgramFiles, Source, is_inline
from crossply.functions.builtin.kcl.worker_program_marshal import Program, encode_program
from crossply.functions.builtin.sandbox.request_json import as_json
from crossply.values import Object
from crossply.values.bounded_cache import BoundedCache
from crossply.values.file_times import FileTimes, read_file_times

MAX_SOURCE = 2 << 20
"""The largest inline program in bytes."""

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_ENVIRONMENT = (("PATH", _PATH), ("env", "{}"))
"""What programs see of the environment. That of Crossply may hold secrets."""

_RESOURCE_LIST = {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": ()}
_MARK = "parameters of the request"

_FRESH_SECONDS = 600.0
"""How long a program is remembered: the highest version of a module may change."""


class _Known(NamedTuple):
    program: bytes
    times: FileTimes
    """Of the files that it was read from."""
    expiry: float


_programs: BoundedCache[tuple[bytes, ModuleAccess], _Known] = BoundedCache(128 << 20)
_lock = Lock()


def program_of(step_input: Input, access: ModuleAccess) -> bytes:
    """The program of a step; raises ModuleError."""
    if len(step_input.source) > MAX_SOURCE:
        raise ModuleError(f"the source is longer than {MAX_SOURCE >> 20} MiB")
    function_config = _function_config(step_input)
    settings = as_json(function_config)
    key = (settings, access)
    with _lock:
        known = _programs.get(key)
    if known is None or monotonic() > known.expiry or read_file_times(known.times) != known.times:
        known = _load(step_input, function_config, access)
        with _lock:
            _programs.put(key, known, len(settings) + len(known.program))
    return known.program


def _load(step_input: Input, function_config: Object, access: ModuleAccess) -> _Known:
    config = step_input.config
    source = Source(step_input.source, step_input.dependencies, tuple(config.get("settings", ())))
    files = _program_files(source, access)
    merged = merged_config(files.config, {name: config[name] for name in config if name != "settings"})
    program = _encoded(files, merged, function_config)
    return _Known(program, read_file_times(files.watched), monotonic() + _FRESH_SECONDS)


def module_program(directory: str, access: ModuleAccess) -> bytes:
    """The program of a module that no step calls; raises ModuleError."""
    files = _program_files(Source(directory), access)
    return _encoded(files, files.config, {"spec": {}})


def _encoded(files: ProgramFiles, config: Object, function_config: Object) -> bytes:
    return encode_program(
        Program(
            files.entries,
            files.files,
            files.packages,
            tuple(config.get("overrides", ())),
            tuple(config.get("pathSelectors", ())),
            tuple(flag for flag in FLAG_FIELDS if config.get(flag)),
            (*map(_argument, config.get("arguments", ())), *_ENVIRONMENT),
            _resource_list(function_config),
        )
    )


def _program_files(source: Source, access: ModuleAccess) -> ProgramFiles:
    if is_inline(source.text) and not source.dependencies and not source.settings:
        return ProgramFiles(((PROGRAM, source.text),))
    from crossply.functions.builtin.kcl.sources import load_program

    return load_program(source, access)


def _resource_list(function_config: Object) -> tuple[bytes, bytes]:
    """The value of `option("resource_list")`, before and after the parameters in it."""
    spec = {**function_config["spec"], "params": _MARK}
    text = as_json({**_RESOURCE_LIST, "functionConfig": {**function_config, "spec": spec}})
    before, _, after = text.rpartition(as_json(_MARK))
    return before, after


def _argument(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return name, value


def _function_config(step_input: Input) -> Object:
    """What programs read as `option("resource_list").functionConfig`, without the parameters."""
    decoded: Mapping[str, object] = step_input.decoded
    spec = {key: value for key, value in step_input.decoded.get("spec", {}).items() if key != "params"}
    return {
        **decoded,
        "apiVersion": "krm.kcl.dev/v1alpha1",
        "kind": "KCLRun",
        "spec": {**spec, "source": step_input.source, "target": step_input.target},
    }
