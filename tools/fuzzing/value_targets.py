"""Files, values and messages: what `render` reads."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from crossply.compose.function_messages import Request, Resource, Response, Snapshot, State
from crossply.compose.in_memory_cluster import InMemoryCluster
from crossply.compose.operation_rendering import OperationRendering
from crossply.compose.wire_codec import decode_request, decode_response, encode_request, encode_response
from crossply.errors import CrossplyError
from crossply.functions.builtin import PUBLISHED
from crossply.functions.builtin import load as load_function
from crossply.kinds.composition import parse_composition
from crossply.schema.defaults import apply_defaults
from crossply.schema.definition_crds import composite_crd
from crossply.schema.prune import prune
from crossply.schema.validation import validate
from crossply.values import cron, gojson, quantity
from crossply.values import field_path as paths
from crossply.values.goformat import sprintf
from crossply.values.protobuf_struct import decode_struct, encode_struct
from crossply.values.yaml import dump, load, read_stream
from fuzzing.inputs import as_bytes, as_text, document, mutated, mutated_text, text, value, yaml_text

_PATHS = ("a", "a.b", "a[0].b", "a[*].b[*]", "spec['x.y/z'].c", "[0]", "metadata.labels[a]", "a[2].b[1][3].c")
_PATH_WORDS = [
    "[",
    "]",
    "[*]",
    ".",
    "['",
    "']",
    "[0]",
    "[1023]",
    "[4294967296]",
    "[99999999]",
    "[-1]",
    "*",
    "..",
    "a",
]


def make_yaml(rng: random.Random) -> Any:
    return {"text": as_text(yaml_text(rng)), "strict": rng.random() < 0.3}


def run_yaml(case_input: Any) -> None:
    read_stream(as_bytes(case_input["text"]), strict=case_input["strict"])


def run_yaml_round_trip(case_input: Any) -> None:
    value = json.loads(json.dumps(case_input))
    load(dump(value))


def make_paths(rng: random.Random) -> Any:
    path = mutated_text(rng, rng.choice(_PATHS), _PATH_WORDS) if rng.random() < 0.6 else text(rng)
    return {"path": path, "object": {**document(rng), "a": value(rng)}, "value": value(rng, 2)}


def run_paths(case_input: Any) -> None:
    path, obj = case_input["path"], case_input["object"]
    paths.parse(path)
    for use in (paths.get, paths.expand, paths.delete):
        try:
            use(obj, path)
        except CrossplyError:
            continue
    paths.set_value(obj, path, case_input["value"])


def make_sprintf(rng: random.Random) -> Any:
    return {"format": text(rng) + text(rng), "arguments": [value(rng, 2) for _ in range(rng.randrange(4))]}


def run_sprintf(case_input: Any) -> None:
    sprintf(case_input["format"], case_input["arguments"])


def make_json(rng: random.Random) -> Any:
    return as_text(mutated(rng, json.dumps(value(rng)).encode()))


def run_json(case_input: Any) -> None:
    gojson.loads(as_bytes(case_input).decode("utf-8", "replace"))


def make_struct(rng: random.Random) -> Any:
    return as_text(mutated(rng, encode_struct(document(rng))))


def run_struct(case_input: Any) -> None:
    decode_struct(as_bytes(case_input))


def make_request(rng: random.Random) -> Any:
    """What a function is asked, as JSON."""
    observed = {text(rng): document(rng) for _ in range(rng.randrange(3))}
    return {
        "composite": document(rng),
        "observed": observed,
        "input": document(rng),
        "context": document(rng),
    }


def request_of(case_input: Any) -> Request:
    """The request that `make_request` stands for."""
    observed = {name: Resource.of(Snapshot(obj)) for name, obj in case_input["observed"].items()}
    state = State(Resource.of(Snapshot(case_input["composite"])), observed)
    return Request(
        state, input=Snapshot(case_input["input"]).view, context=Snapshot(case_input["context"]).view
    )


def make_wire(rng: random.Random) -> Any:
    return as_text(mutated(rng, encode_request(request_of(make_request(rng)))))


def run_wire(case_input: Any) -> None:
    decode_request(as_bytes(case_input))
    decode_response(as_bytes(case_input))


def make_functions(rng: random.Random) -> Any:
    request = {**make_request(rng), "function": rng.choice(PUBLISHED)}
    if rng.random() < 0.8:
        request["input"] = {"resources": [_patch_template(rng)], "patchSets": value(rng, 2)}
    return request


def _patch_template(rng: random.Random) -> dict[str, Any]:
    patch = {
        "type": text(rng),
        "fromFieldPath": text(rng),
        "toFieldPath": text(rng),
        "transforms": [value(rng)],
    }
    return {"name": text(rng), "base": document(rng), "patches": [patch, value(rng)], text(rng): value(rng)}


def run_functions(case_input: Any) -> None:
    encode_response(load_function(case_input["function"])(request_of(case_input)))


def make_composition(rng: random.Random) -> Any:
    spec = {text(rng): value(rng) for _ in range(6)}
    return {"metadata": value(rng, 2), "spec": {**spec, "pipeline": value(rng)}}


def make_definition(rng: random.Random) -> Any:
    return {**document(rng), "spec": {"versions": [value(rng)], **document(rng)}}


def make_schema(rng: random.Random) -> Any:
    schema, obj = document(rng), document(rng)
    schema["properties"] = {key: value(rng) for key in obj}
    return {"schema": schema, "object": obj}


def run_schema(case_input: Any) -> None:
    schema, obj = case_input["schema"], case_input["object"]
    try:
        validate(obj, schema)
        prune(apply_defaults(obj, schema), schema)
    except (AttributeError, TypeError, KeyError, ValueError):
        # Schemas are checked before they are used; here only a crash of the interpreter would count.
        return


def make_schedule(rng: random.Random) -> Any:
    parts = ("*", "?", "/", "-", ",", "@", "every ", "TZ=", "UTC ", "Asia/Tokyo ", "MON", "feb", "1h", " ")
    words = [rng.choice((rng.choice(parts), str(rng.randrange(70)), " ")) for _ in range(rng.randrange(16))]
    return {"schedule": "".join(words), "month": rng.randrange(1, 13)}


def run_schedule(case_input: Any) -> None:
    cron.parse(case_input["schedule"]).next(datetime(2026, case_input["month"], 1, tzinfo=UTC))


def make_operation(rng: random.Random) -> Any:
    """Whatever an Operation says, and whatever its functions want."""
    step = {"step": text(rng), "functionRef": {"name": "f"}, text(rng): value(rng)}
    operation = {"metadata": document(rng), "spec": {"pipeline": [step], text(rng): value(rng)}}
    operation |= {"status": {"pipeline": value(rng), "appliedResourceRefs": value(rng), **document(rng)}}
    return {
        "operation": operation,
        "desired": {"metadata": {"name": "x"}, **document(rng)},
        "output": document(rng),
        "observed": document(rng),
    }


def run_operation(case_input: Any) -> None:
    desired = Resource(case_input["desired"])
    call = lambda step, request: Response(State(None, {"it": desired}), output=case_input["output"])  # noqa: E731
    OperationRendering(InMemoryCluster([case_input["observed"]], [], []), call).run(
        case_input["operation"], {}
    )


def targets() -> Iterator[tuple[str, Any, Any]]:
    """The name of each target, what makes its input, and what runs it."""
    yield "yaml", make_yaml, run_yaml
    yield "yaml-round-trip", document, run_yaml_round_trip
    yield "paths", make_paths, run_paths
    yield "sprintf", make_sprintf, run_sprintf
    yield "quantity", text, quantity.parse
    yield "json", make_json, run_json
    yield "struct", make_struct, run_struct
    yield "wire", make_wire, run_wire
    yield "functions", make_functions, run_functions
    yield "composition", make_composition, parse_composition
    yield "definition", make_definition, composite_crd
    yield "schema", make_schema, run_schema
    yield "schedule", make_schedule, run_schedule
    yield "operation", make_operation, run_operation
