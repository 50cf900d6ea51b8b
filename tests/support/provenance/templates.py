"""Random templates: statements that print fields of the XR in many ways, as whole lines of YAML."""

from __future__ import annotations

import re
from random import Random
from typing import Any

SCALARS = ("a", "b", "c", "nested.x", "nested.y", "deep.er.z", "missing", "nested.missing")
NUMBERS = ("n", "nested.n")
BOOLS = ("on", "off", "nested.on")
LISTS = ("words", "items")
MAPS = ("tags", "nested")

XR: dict[str, Any] = {
    "apiVersion": "example.org/v1",
    "kind": "Thing",
    "metadata": {"name": "mine", "uid": "u", "labels": {"team": "red", "tier": "one"}},
    "spec": {
        "a": "alpha",
        "b": "beta",
        "c": "",
        "n": 3.0,
        "on": True,
        "off": False,
        "nested": {"x": "ex", "y": "why", "n": 7.0, "on": True},
        "deep": {"er": {"z": "zed"}},
        "words": ["one", "two", "three"],
        "items": [{"name": "first", "size": 1.0}, {"name": "second", "size": 2.0}],
        "tags": {"red": "r", "blue": "b"},
        "unused": "u",
    },
}

HELPERS = """
{{- define "joined" }}{{ .left }}-{{ .xr.spec.nested.x }}{{ end }}
{{- define "lines" }}
first: {{ .spec.a | quote }}
{{- if .spec.on }}
second: {{ .spec.b | quote }}
{{- end }}
{{- end }}
"""

_GRAMMAR: dict[str, tuple[str, ...]] = {
    "ROOT": ("$xr.spec.", "$spec.", "$.observed.composite.resource.spec."),
    "SCALAR": tuple(f"ROOT{name}" for name in SCALARS),
    "NUMBER": tuple(f"ROOT{name}" for name in NUMBERS),
    "BOOL": tuple(f"ROOT{name}" for name in BOOLS),
    "CONTAINER": tuple(f"ROOT{name}" for name in LISTS + MAPS),
    "ATOM": (
        *("SCALAR",) * 4,
        "NUMBER",
        "(index $spec.words 1)",
        "(index $spec.items 0).name",
        '(get $spec "a")',
        '(dig "nested" "x" "none" $spec)',
        "(first $spec.words)",
        "(len $spec.words)",
        '(hasKey $spec "c")',
        "$kept",
        "$box.value",
        "$box.other",
        '(include "joined" (dict "left" $spec.c "xr" $xr))',
        '(keys $spec.tags | sortAlpha | join ",")',
        '"literal"',
    ),
    "VALUE": (
        *("ATOM",) * 3,
        "ATOM | default ATOM",
        'printf "%v/%v" ATOM ATOM',
        "ternary ATOM ATOM (TEST | not | not)",
        "coalesce ATOM ATOM ATOM",
        "or ATOM ATOM",
        "and ATOM ATOM",
        "ATOM | toString | upper | trunc 4",
        "list ATOM ATOM | last",
        'get (dict "k" ATOM "l" ATOM) "k"',
        '(dict "k" ATOM "l" ATOM).l',
        "ATOM | toJson | b64enc",
    ),
    "TEST": (
        *("BOOL", "SCALAR", "CONTAINER", "not BOOL", "and BOOL SCALAR", "gt (int NUMBER) 5"),
        'eq (SCALAR | default "") "alpha"',
    ),
    "KEY": tuple(f"k{number}" for number in range(20)),
    "FIELD": (
        *("KEY: {{ VALUE | toString | quote }}\n",) * 3,
        "KEY: fixed\n",
        'KEY: "x{{ if TEST }}y{{ end }}z"\n',
        "KEY: [1, {{ VALUE | toJson }}, {{ VALUE | toJson }}]\n",
        "KEY: |\n  text {{ VALUE }}\n  more\n",
        "KEY:\n  {{- MAP | toYaml | nindent INDENT }}\n",
    ),
    "MAP": ("$spec.tags", "$spec.nested", "$box"),
    "ITEM": (
        "- {{ VALUE | toString | quote }}\n",
        "- name: {{ VALUE | toString | quote }}\n  fixed: 1\n",
        "- {{ MAP | toJson }}\n",
    ),
    "CHANGE": (
        "{{- $kept = VALUE }}\n",
        '{{- $_ := set $box "value" (VALUE) }}\n',
        '{{- $_ := set $box "other" (VALUE) }}\n',
    ),
}
_SYMBOL = re.compile(r"\b(?:" + "|".join(_GRAMMAR) + r")(?=\b|[a-z])")
_RANGE = "{{- range $i, $e := CONTAINER }}\n"


class _Writer:
    """Writes one template."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def expand(self, text: str) -> str:
        """The text with a random production for each symbol."""
        while (match := _SYMBOL.search(text)) is not None:
            text = text[: match.start()] + self._random.choice(_GRAMMAR[match[0]]) + text[match.end() :]
        return text

    def lines(self, indent: int, depth: int, part: str) -> str:
        """Statements that print whole lines of one map (FIELD) or one list (ITEM)."""
        count = self._random.randint(1, 4)
        return "".join(self._statement(indent, depth, part) for _ in range(count))

    def _statement(self, indent: int, depth: int, part: str) -> str:
        kind = self._random.choice(
            ("part", "part", "if", "with", "range", "change", "below") if depth else ("part",)
        )
        if kind in ("if", "with"):
            return self._branch(kind, indent, depth, part)
        if kind == "below":
            return self._below(indent, depth, part)
        if kind == "range":
            item = (
                "- {{ $e | toJson | quote }}\n"
                if part == "ITEM"
                else "r{{ $i }}KEY: {{ $e | toJson | quote }}\n"
            )
            return _indented(self.expand(f"{_RANGE}{item}{{{{- end }}}}\n"), indent)
        text = self.expand("CHANGE" if kind == "change" else part)
        return _indented(text, indent).replace("INDENT", str(indent + 2))

    def _branch(self, kind: str, indent: int, depth: int, part: str) -> str:
        text = _indented(self.expand(f"{{{{- {kind} TEST }}}}\n"), indent) + self.lines(
            indent, depth - 1, part
        )
        for otherwise in self._random.choice(((), ("",), (f" {kind} TEST",), (f" {kind} TEST", ""))):
            text += _indented(self.expand(f"{{{{- else{otherwise} }}}}\n"), indent)
            text += self.lines(indent, depth - 1, part)
        return text + _indented("{{- end }}\n", indent)

    def _below(self, indent: int, depth: int, part: str) -> str:
        if part == "ITEM":
            return _indented("- inner:\n", indent) + self.lines(indent + 4, depth - 1, "FIELD")
        key = _indented(self.expand("KEY:\n"), indent)
        if self._random.random() < 0.5:
            return key + self.lines(indent, depth - 1, "ITEM")
        return key + self.lines(indent + 2, depth - 1, "FIELD")

    def document(self, name: str) -> str:
        body = self.lines(2, 3, "FIELD")
        document = (
            f"---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  annotations:\n"
            f'    {{{{ setResourceNameAnnotation "{name}" }}}}\ndata:\n{body}'
        )
        if self._random.random() < 0.5:
            document = self.expand("{{- if TEST }}\n") + f"{document}{{{{- end }}}}\n"
        return document


def _indented(text: str, indent: int) -> str:
    return "".join(" " * indent + line for line in text.splitlines(keepends=True))


_VARIABLES = """{{- $xr := getCompositeResource . }}
{{- $spec := $xr.spec }}
{{- $kept := "k" }}
{{- $box := dict "value" $spec.b "other" "o" }}
"""


def random_template(seed: int) -> str:
    """A template of two ConfigMaps, the same for the same seed."""
    writer = _Writer(seed)
    return HELPERS + _VARIABLES + writer.document("one") + writer.document("two")
