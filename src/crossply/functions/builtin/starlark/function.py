"""function-starlark: run the script of the step in a sandboxed process and build the response."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from crossply.compose.function_messages import REQUIRED_RESOURCES, Request, Response, State, fatal, respond
from crossply.errors import CrossplyError
from crossply.functions.builtin.dummy import merged
from crossply.functions.builtin.protojson import MessageError, read_response
from crossply.functions.builtin.sandbox.pool import ProgramError, WorkerFailed, ask
from crossply.functions.builtin.sandbox.request_json import as_json, request_data
from crossply.functions.builtin.starlark.input import Input, InputError, read_input
from crossply.functions.builtin.starlark.module_names import NoDefaultRegistry, checked_registry
from crossply.functions.builtin.starlark.mounted_scripts import (
    Mounted,
    MountError,
    mounted,
    script_of,
    with_mounts,
    without_mounts,
)
from crossply.functions.builtin.starlark.registry_artifacts import ArtifactError, access_of, fetch
from crossply.functions.builtin.starlark.registry_module_resolution import registry_modules
from crossply.values import Object
from crossply.values.protobuf_struct import StructError, to_wire

_LANGUAGE = "crossply.functions.builtin.starlark.worker"
_NO_SOURCE = "spec.source or spec.scriptConfigRef is required"
_DEFAULT_REGISTRY = "STARLARK_OCI_DEFAULT_REGISTRY"
_PLAIN_HTTP = "STARLARK_OCI_INSECURE_REGISTRIES"
_USAGE_VERSION = "STARLARK_USAGE_API_VERSION"
_CREDENTIAL_KEYS = ("config.json", ".dockerconfigjson")


Ask = Callable[[str, bytes, bytes], bytes]
"""The answer of a program of a language to a question, as `sandbox.pool.ask` gives it."""


def run(request: Request) -> Response:
    return answer(request, ask)


def answer(request: Request, ask_program: Ask) -> Response:
    """The response to a request, whose script is run by `ask_program`."""
    try:
        step_input = read_input(request)
    except InputError as error:
        return fatal(request, f"cannot get Function input: {error}")
    if not step_input.source and step_input.reference is None:
        return fatal(request, _NO_SOURCE)
    try:
        mounts = mounted(step_input, request, os.environ)
    except MountError as error:
        return fatal(request, f"loading script from ConfigMap: {error}")
    if mounts.missing:
        return respond(request, requirements=with_mounts(None, mounts))
    response = _run(without_mounts(request), step_input, mounts, ask_program)
    requirements = with_mounts(response.requirements, mounts)
    if requirements is not None and REQUIRED_RESOURCES not in request.capabilities:
        # Crossplane up to 1.20 knows the older field only.
        requirements = requirements._replace(extra_resources=requirements.resources)
    return response._replace(requirements=requirements)


def _run(request: Request, step_input: Input, mounts: Mounted, ask_program: Ask) -> Response:
    try:
        program = _program(request, step_input, mounts)
        question = as_json(request_data(request))
        return build_response(request, ask_program(_LANGUAGE, program, question))
    except MountError as error:
        return fatal(request, f"loading script from ConfigMap: {error}")
    except NoDefaultRegistry as error:
        return fatal(request, f"scanning for OCI load targets: {error}")
    except ArtifactError as error:
        return fatal(request, f"resolving OCI modules: {error}")
    except CrossplyError as error:
        return fatal(request, f"validating default OCI registry: {error}")
    except WorkerFailed as error:
        return fatal(request, f"starlark execution failed: {step_input.file}: {error}")
    except ProgramError as error:
        return fatal(request, f"starlark execution failed: {error}")
    except MessageError as error:
        return fatal(request, f"script does not give a RunFunctionResponse: {error}")
    except TypeError as error:  # of the JSON encoder: invalid Unicode or a huge integer
        return fatal(request, f"cannot run script: {error}")


def _program(request: Request, step_input: Input, mounts: Mounted) -> bytes:
    source = script_of(step_input, mounts)
    modules = {**mounts.modules(), **step_input.modules}
    registry = checked_registry(step_input.default_registry or os.environ.get(_DEFAULT_REGISTRY, ""))
    plain_http = step_input.plain_http or tuple(
        name.strip() for name in os.environ.get(_PLAIN_HTTP, "").split(",") if name.strip()
    )
    access = access_of(os.environ, plain_http, _credential(request, step_input.credential))
    fetched = registry_modules(source, modules, registry, lambda reference: fetch(reference, access))
    return as_json(
        {
            "file": step_input.file,
            "source": source,
            "modules": {**modules, **fetched},
            "searched": mounts.directories,
            "registry": registry,
            "main": step_input.defines_main,
            "usage_version": step_input.usage_version or os.environ.get(_USAGE_VERSION, ""),
            "sequencing_ttl": step_input.sequencing_ttl,
        }
    )


def _credential(request: Request, name: str) -> bytes:
    """The Docker configuration in a credential of the step; empty if there is none."""
    data = request.credentials.get(name, {}) if name else {}
    return next((data[key] for key in _CREDENTIAL_KEYS if key in data), b"")


def build_response(request: Request, reply: bytes) -> Response:
    """Build the response from the reply of the worker; raises MessageError."""
    import orjson

    try:
        reply_data: Any = to_wire(orjson.loads(reply))
    except (ValueError, StructError) as error:
        raise MessageError(str(error)) from None
    if "problem" in reply_data:
        return fatal(request, reply_data["problem"])
    if "main" in reply_data:
        return _main_response(request, reply_data["main"])
    if "fatal" in reply_data:
        fatal_response = read_response(reply_data["fatal"])
        return respond(
            request,
            results=fatal_response.results,
            conditions=fatal_response.conditions,
            requirements=fatal_response.requirements,
        )
    return _composed(request, reply_data["response"])


def _composed(request: Request, data: Object) -> Response:
    """The response of a script that ran to its end. Its object of the XR replaces the one before."""
    meta = data.pop("meta", None)
    response = read_response(data)
    answer = merged(respond(request), response)
    state, desired = answer.desired or State(), response.desired
    if desired is not None and desired.composite is not None and state.composite is not None:
        composite = state.composite._replace(object=desired.composite.object)
        answer = answer._replace(desired=State(composite, state.resources))
    if meta is None:
        return answer
    ttl = meta["ttl"]
    return answer._replace(ttl=None if ttl is None else int(ttl))


def _main_response(request: Request, value: Any) -> Response:
    """The value of `main` is the whole response; missing parts are taken from the request."""
    if not isinstance(value, dict):
        raise MessageError("main must return a dict")
    response = read_response(value)
    before = respond(request)
    return response._replace(
        desired=before.desired if response.desired is None else response.desired,
        context=before.context if response.context is None else response.context,
        ttl=before.ttl if response.ttl is None else response.ttl,
        tag=response.tag or before.tag,
    )
