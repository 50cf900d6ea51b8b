"""Random values, biased to the words that our formats know."""

from __future__ import annotations

import random
from typing import Any

from crossply.values.yaml import dump

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
    """A JSON value."""
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
    obj = {text(rng): value(rng) for _ in range(rng.randrange(8))}
    if rng.random() < 0.7:
        obj.update(apiVersion="example.org/v1", kind="Thing", metadata=value(rng, 2))
    return obj


def mutated(rng: random.Random, data: bytes, words: list[str] = WORDS) -> bytes:
    """Bytes with a few of them changed, dropped, doubled or cut off."""
    out = bytearray(data)
    for _ in range(rng.randrange(1, 6)):
        if not out:
            break
        at = rng.randrange(len(out))
        action = rng.randrange(6)
        if action == 0:
            out[at] = rng.randrange(256)
        elif action == 1:
            del out[at : at + rng.randrange(1, 9)]
        elif action == 2:
            out[at:at] = rng.choice(words).encode()
        elif action == 3:
            out[at] ^= 1 << rng.randrange(8)
        elif action == 4:
            out[at:at] = out[at : at + rng.choice((1, 8, 64, 512))]
        elif rng.random() < 0.3:
            del out[at:]
    return bytes(out)


def mutated_text(rng: random.Random, data: str, words: list[str] = WORDS) -> str:
    """The same for a text."""
    return mutated(rng, data.encode(), words).decode("utf-8", "replace")


def mutated_value(rng: random.Random, original: Any) -> Any:
    """A JSON value that is like another one, but wrong in a few places."""
    if rng.random() < 0.08:
        return value(rng, 2)
    if isinstance(original, dict):
        members = {key: mutated_value(rng, member) for key, member in original.items() if rng.random() > 0.04}
        if rng.random() < 0.1:
            members[rng.choice([text(rng), *original])] = value(rng, 2)
        return members
    if isinstance(original, list):
        items = [mutated_value(rng, item) for item in original if rng.random() > 0.04]
        return items + items[:1] if rng.random() < 0.05 else items
    return original


def yaml_text(rng: random.Random) -> bytes:
    """YAML, mostly broken."""
    data = dump(document(rng)).encode("utf-8", "surrogatepass")
    return mutated(rng, data) if rng.random() < 0.8 else data


def as_text(data: bytes) -> str:
    """Bytes as JSON can hold them."""
    return data.decode("latin-1")


def as_bytes(text: str) -> bytes:
    """What `as_text` was given."""
    return text.encode("latin-1")
