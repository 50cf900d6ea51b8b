"""Unused documented models are left out, whatever their documentation mentions."""

from __future__ import annotations

from crossply.functions.builtin.kcl.imported_files import SchemaPackage, words_of

HEADER = '"""\nGenerated. Do not edit.\n"""\nimport meta.v1\n\n'
FAN = HEADER + 'schema Fan:\n    r"""\n    Unlike a Lamp, a Fan moves.\n    """\n    size?: int\n'
LAMP = HEADER + 'schema Lamp:\n    r"""\n    A Lamp, not a Fan.\n    """\n    bulb?: Bulb\n'
BULB = HEADER + "schema Bulb:\n    watt?: int\n"


def files_of(program: str) -> set[str]:
    package = SchemaPackage({"fan.k": FAN, "lamp.k": LAMP, "bulb.k": BULB})
    return {path for path, _ in package.take(words_of(program))}


def test_the_documentation_of_another_kind_does_not_bring_it() -> None:
    assert files_of('"""\nThis program is about a Fan.\n"""\na = acme.Lamp{}\n') == {"lamp.k", "bulb.k"}


def test_a_name_that_is_put_into_a_text_counts() -> None:
    assert files_of('a = """\n${acme.Fan{}}\n"""\n') == {"fan.k"}
