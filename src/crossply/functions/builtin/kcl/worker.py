"""KCL as a language of sandboxed workers. A program is code with settings, a question its parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from crossply.functions.builtin.kcl import native
from crossply.functions.builtin.kcl.core_protobuf import CoreError, encode_arguments, encode_run
from crossply.functions.builtin.kcl.worker_program_marshal import PREFIX, decode_program
from crossply.functions.builtin.sandbox.worker import Answer, ProgramFailed

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_VIRTUAL = re.compile(r"(?<![\w/])/(?:main|packages)/")
_OPTION = re.compile(r"\boption\b")
_LITERAL_OPTION = re.compile(r"""\boption\s*\(\s*(?:key\s*=\s*)?(["'])(\w+)\1""")


class Loaded(NamedTuple):
    """What a worker keeps of a program."""

    arguments: bytes
    """The encoded arguments that every run shares."""
    options: frozenset[str] | None
    """The names of the options that the program reads; None when they are computed."""
    resource_list: tuple[bytes, bytes]


def prepare(program: bytes) -> Mapping[str, bytes] | None:
    if not program:
        native.warm_up()
        return None
    decoded = decode_program(program)
    if not decoded.files and not decoded.overrides:
        return None  # nothing is looked for in files
    return {path: text.encode() for path, text in decoded.files.items()}


def load(program: bytes) -> Answer:
    decoded = decode_program(program)
    arguments = encode_arguments((name, value.encode()) for name, value in decoded.arguments)
    texts = [*decoded.files.values(), *(code for _, code in decoded.entries if code is not None)]
    loaded = Loaded(encode_run(decoded) + arguments, _options_read(texts), decoded.resource_list)
    return lambda params: _answer(loaded, params)


def _answer(program: Loaded, params: bytes) -> bytes:
    options = encode_arguments(_options(program, params))
    try:
        return native.execute(program.arguments + options)
    except CoreError as error:
        raise ProgramFailed(_message(error)) from None


def _options(program: Loaded, params: bytes) -> Iterator[tuple[str, bytes]]:
    """The options of a run: only those that the program can read, because all are decoded at the start."""
    names = program.options
    if names is None or "params" in names:
        yield "params", params
    if names is None or "items" in names:
        yield "items", b"[]"
    if names is None or "resource_list" in names:
        before, after = program.resource_list
        yield "resource_list", before + params + after


def _options_read(texts: list[str]) -> frozenset[str] | None:
    names: set[str] = set()
    for code in texts:
        literals = _LITERAL_OPTION.findall(code)
        if len(literals) != len(_OPTION.findall(code)):
            return None
        names.update(name for _, name in literals)
    return frozenset(names)


def _message(error: CoreError) -> str:
    """The core's message without colours, repetitions and the virtual directories of modules."""
    text = _VIRTUAL.sub("", _COLOUR.sub("", str(error))).replace(f"{PREFIX}_", "_")
    parts = [part.strip("\n") for part in text.split("\n\n")]
    return "\n\n".join(dict.fromkeys(part for part in parts if part))
