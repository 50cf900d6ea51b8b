"""Feed random and mutated input to everything that reads what others wrote, and count what survives.

Usage: python tools/fuzz.py SECONDS [SEED]. A target may refuse its input with a CrossplyError; any other
exception is a crash: it is printed with the input that caused it, and the exit code is 1.
"""

from __future__ import annotations

import json
import random
import sys
import time
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from crossply.compose.messages import Request, Resource, Response, Snapshot, State
from crossply.compose.operation_rendering import OperationRendering
from crossply.compose.wire import decode_request, decode_response, encode_request, encode_response
from crossply.compose.world import World
from crossply.errors import CrossplyError
from crossply.functions.builtin import PUBLISHED
from crossply.functions.builtin import load as load_function
from crossply.kinds.composition import parse_composition
from crossply.schema.crd import composite_crd
from crossply.schema.defaults import apply_defaults
from crossply.schema.prune import prune
from crossply.schema.validation import validate
from crossply.values import cron, gojson, paths, quantity
from crossply.values.goformat import sprintf
from crossply.values.structs import decode_struct, encode_struct
from crossply.values.yaml import dump, load, read_stream

WORDS = (
    "apiVersion kind metadata name spec status resources patches type fromFieldPath toFieldPath "
    "transforms math multiply string fmt convert toType map match patterns regexp combine variables "
    "strategy policy patchSets patchSetName base readinessChecks connectionDetails environment pipeline "
    "step input functionRef mode Pipeline Resources FromCompositeFieldPath ToCompositeFieldPath PatchSet "
    "Required Optional properties items required enum default pattern format oneOf anyOf not versions "
    "schema openAPIV3Schema names group scope LegacyCluster Namespaced true false null yes no ~ 012 0x1f "
    "1e3 .inf .nan <<: *a &a !!str | > - ? : a[0] a[*] a. .a a[ ] %d %v %!s %[1]* %-010.3f 1Ki 100m -0 "
    "9223372036854775808 2024-01-01 {} [] '' \"\" "
).split()


def text(rng: random.Random) -> str:
    """A string: words, noise, or both."""
    if rng.random() < 0.5:
        return rng.choice(WORDS)
    pieces = [
        rng.choice((rng.choice(WORDS), chr(rng.randrange(1, 0x250)), " ", "\n", "."))
        for _ in range(rng.randrange(8))
    ]
    return "".join(pieces)


def value(rng: random.Random, depth: int = 4) -> Any:
    """A JSON value, biased to the words that our formats know."""
    kind = rng.randrange(10 if depth else 5)
    if kind < 2:
        return text(rng)
    if kind == 2:
        return rng.choice((0, 1, -1, 5, 2**53 + 1, -(2**63), 1024, rng.randrange(-9999, 9999)))
    if kind == 3:
        return rng.choice((0.5, -0.0, 1e21, 1e-9, rng.uniform(-1e6, 1e6)))
    if kind == 4:
        return rng.choice((True, False, None))
    if kind < 7:
        return [value(rng, depth - 1) for _ in range(rng.randrange(4))]
    return {text(rng): value(rng, depth - 1) for _ in range(rng.randrange(6))}


def document(rng: random.Random) -> dict[str, Any]:
    """A JSON object."""
    made = {text(rng): value(rng) for _ in range(rng.randrange(8))}
    if rng.random() < 0.7:
        made.update(apiVersion="example.org/v1", kind="Thing", metadata=value(rng, 2))
    return made


def mutated(rng: random.Random, data: bytes) -> bytes:
    """Bytes with a few of them changed, dropped, doubled or cut off."""
    out = bytearray(data)
    for _ in range(rng.randrange(1, 6)):
        if not out:
            break
        at = rng.randrange(len(out))
        action = rng.randrange(4)
        if action == 0:
            out[at] = rng.randrange(256)
        elif action == 1:
            del out[at : at + rng.randrange(1, 9)]
        elif action == 2:
            out[at:at] = rng.choice(WORDS).encode()
        else:
            del out[at:]
    return bytes(out)


def yaml_text(rng: random.Random) -> bytes:
    made = dump(document(rng)).encode("utf-8", "surrogatepass")
    return mutated(rng, made) if rng.random() < 0.8 else made


def fuzz_yaml(rng: random.Random) -> None:
    read_stream(yaml_text(rng), strict=rng.random() < 0.3)


def fuzz_yaml_round_trip(rng: random.Random) -> None:
    made = json.loads(json.dumps(document(rng)))
    load(dump(made))


def fuzz_paths(rng: random.Random) -> None:
    path, obj = text(rng), document(rng)
    paths.parse(path)
    for use in (paths.get, paths.expand, paths.delete):
        try:
            use(obj, path)
        except CrossplyError:
            continue
    paths.set_value(obj, path, value(rng, 2))


def fuzz_sprintf(rng: random.Random) -> None:
    sprintf(text(rng) + text(rng), [value(rng, 2) for _ in range(rng.randrange(4))])


def fuzz_quantity(rng: random.Random) -> None:
    quantity.parse(text(rng))


def fuzz_json(rng: random.Random) -> None:
    raw = json.dumps(value(rng)).encode()
    gojson.loads(mutated(rng, raw).decode("utf-8", "replace"))


def fuzz_struct(rng: random.Random) -> None:
    decode_struct(mutated(rng, encode_struct(document(rng))))


def request(rng: random.Random) -> Request:
    observed = {text(rng): Resource.of(Snapshot(document(rng))) for _ in range(rng.randrange(3))}
    state = State(Resource.of(Snapshot(document(rng))), observed)
    return Request(state, input=Snapshot(document(rng)).view, context=Snapshot(document(rng)).view)


def fuzz_wire(rng: random.Random) -> None:
    data = mutated(rng, encode_request(request(rng)))
    decode_request(data)
    decode_response(data)


def fuzz_functions(rng: random.Random) -> None:
    made = request(rng)
    if rng.random() < 0.8:
        made.input = {"resources": [patch_template(rng)], "patchSets": value(rng, 2)}
    encode_response(load_function(rng.choice(PUBLISHED))(made))


def patch_template(rng: random.Random) -> dict[str, Any]:
    patch = {
        "type": text(rng),
        "fromFieldPath": text(rng),
        "toFieldPath": text(rng),
        "transforms": [value(rng)],
    }
    return {"name": text(rng), "base": document(rng), "patches": [patch, value(rng)], text(rng): value(rng)}


def fuzz_composition(rng: random.Random) -> None:
    spec = {text(rng): value(rng) for _ in range(6)}
    parse_composition({"metadata": value(rng, 2), "spec": {**spec, "pipeline": value(rng)}})


def fuzz_definition(rng: random.Random) -> None:
    composite_crd({**document(rng), "spec": {"versions": [value(rng)], **document(rng)}})


def fuzz_schema(rng: random.Random) -> None:
    schema, obj = document(rng), document(rng)
    schema["properties"] = {key: value(rng) for key in obj}
    try:
        validate(obj, schema)
        prune(apply_defaults(obj, schema), schema)
    except (AttributeError, TypeError, KeyError, ValueError):
        # Schemas are checked before they are used; here only a crash of the interpreter would count.
        return


def fuzz_schedule(rng: random.Random) -> None:
    parts = ("*", "?", "/", "-", ",", "@", "every ", "TZ=", "UTC ", "Asia/Tokyo ", "MON", "feb", "1h", " ")
    words = [rng.choice((rng.choice(parts), str(rng.randrange(70)), " ")) for _ in range(rng.randrange(16))]
    cron.parse("".join(words)).next(datetime(2026, rng.randrange(1, 13), 1, tzinfo=UTC))


def fuzz_operation(rng: random.Random) -> None:
    """Whatever an Operation says, and whatever its functions want."""
    step = {"step": text(rng), "functionRef": {"name": "f"}, text(rng): value(rng)}
    operation = {"metadata": document(rng), "spec": {"pipeline": [step], text(rng): value(rng)}}
    operation |= {"status": {"pipeline": value(rng), "appliedResourceRefs": value(rng), **document(rng)}}
    wish = Resource({"metadata": {"name": "x"}, **document(rng)})
    call = lambda step, request: Response(State(None, {"it": wish}), output=document(rng))  # noqa: E731
    OperationRendering(World([document(rng)], [], []), call).run(operation, {})


TARGETS: tuple[Callable[[random.Random], None], ...] = (
    fuzz_yaml,
    fuzz_yaml_round_trip,
    fuzz_paths,
    fuzz_sprintf,
    fuzz_quantity,
    fuzz_json,
    fuzz_struct,
    fuzz_wire,
    fuzz_functions,
    fuzz_composition,
    fuzz_definition,
    fuzz_schema,
    fuzz_schedule,
    fuzz_operation,
)


def main() -> int:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 600
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(2**32)
    end, count, refused, crashes = time.monotonic() + seconds, 0, 0, 0
    while time.monotonic() < end and crashes < 20:
        target = TARGETS[count % len(TARGETS)]
        rng = random.Random(f"{seed}/{count}")
        try:
            target(rng)
        except CrossplyError:
            refused += 1
        except Exception:  # noqa: BLE001 - that is what we are looking for
            crashes += 1
            print(f"CRASH in {target.__name__}, case {seed}/{count}")
            traceback.print_exc(limit=-3, file=sys.stdout)
        count += 1
    print(f"{count:,} inputs in {seconds:.0f} s, seed {seed}: {refused:,} refused, {crashes} crashes")
    return 1 if crashes else 0


if __name__ == "__main__":
    sys.exit(main())
