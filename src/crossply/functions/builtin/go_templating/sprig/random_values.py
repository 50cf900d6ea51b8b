"""Functions with random results."""

from __future__ import annotations

from string import ascii_letters, digits

from crossply.functions.builtin.go_templating.engine.limits import check_size
from crossply.functions.builtin.go_templating.engine.signatures import FunctionFailed
from crossply.functions.builtin.go_templating.sprig import clock_and_random as world
from crossply.functions.builtin.go_templating.sprig.runes import runes, walkable

_PRINTABLE = "".join(map(chr, range(32, 127)))


def rand_alpha_num(count: int) -> str:
    """So many letters and digits."""
    return _random_text(ascii_letters + digits, count)


def rand_alpha(count: int) -> str:
    """So many letters."""
    return _random_text(ascii_letters, count)


def rand_numeric(count: int) -> str:
    """So many digits."""
    return _random_text(digits, count)


def rand_ascii(count: int) -> str:
    """So many characters that print."""
    return _random_text(_PRINTABLE, count)


def _random_text(alphabet: str, count: int) -> str:
    check_size(count)
    return world.random_choices(alphabet, count)


def rand_bytes(count: int) -> str:
    """So many bytes, as base64."""
    from base64 import b64encode

    if count < 0:
        raise FunctionFailed("runtime error: makeslice: len out of range")
    check_size(count * 4 // 3)
    return b64encode(world.random_bytes(count)).decode()


def rand_int(minimum: int, maximum: int) -> int:
    """An integer from minimum up to maximum, without it."""
    if maximum <= minimum:
        raise FunctionFailed("invalid argument to Intn")
    return world.random_below(maximum - minimum) + minimum


def shuffle(text: str) -> str:
    """The characters in random order."""
    return "".join(world.shuffled(walkable(runes(text))))


def uuidv4() -> str:
    """A random UUID."""
    number = int.from_bytes(world.random_bytes(16), "big")
    # Four bits hold the version, two the variant.
    number = number & ~(0xF << 76) | 4 << 76
    number = number & ~(0b11 << 62) | 0b10 << 62
    text = f"{number:032x}"
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
