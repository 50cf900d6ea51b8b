"""Random templates: statements that print fields of the XR in many ways, as whole lines of YAML."""

from __future__ import annotations

from hypothesis import strategies as st

SCALARS = ("a", "b", "c", "nested.x", "nested.y", "deep.er.z", "missing", "nested.missing")
NUMBERS = ("n", "nested.n")
BOOLS = ("on", "off", "nested.on")
LISTS = ("words", "items")
MAPS = ("tags", "nested")

XR = {
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

_ROOTS = ("$xr.spec.", ".observed.composite.resource.spec.", "$spec.", "$.observed.composite.resource.spec.")


@st.composite
def fields(draw: st.DrawFn, names: tuple[str, ...] = SCALARS) -> str:
    root = draw(st.sampled_from(_ROOTS[:1] + _ROOTS[2:]))  # the dot changes in `with` and `range`
    return root + draw(st.sampled_from(names))


def _atoms() -> st.SearchStrategy[str]:
    return st.one_of(
        fields(),
        fields(NUMBERS),
        st.just("(index $spec.words 1)"),
        st.just("(index $spec.items 0).name"),
        st.just('(get $spec "a")'),
        st.just('(dig "nested" "x" "none" $spec)'),
        st.just("(first $spec.words)"),
        st.just("(len $spec.words)"),
        st.just('(hasKey $spec "c")'),
        st.just("$kept"),
        st.just("$box.value"),
        st.just("$box.other"),
        st.just('(include "joined" (dict "left" $spec.c "xr" $xr))'),
        st.just('(keys $spec.tags | sortAlpha | join ",")'),
        st.just('"literal"'),
    )


@st.composite
def expressions(draw: st.DrawFn) -> str:
    atom, other, third = draw(_atoms()), draw(_atoms()), draw(_atoms())
    condition = draw(conditions())
    return draw(
        st.sampled_from(
            (
                atom,
                atom,
                f"{atom} | default {other}",
                f'printf "%v/%v" {atom} {other}',
                f"ternary {atom} {other} ({condition} | not | not)",
                f"coalesce {atom} {other} {third}",
                f"or {atom} {other}",
                f"and {atom} {other}",
                f"{atom} | toString | upper | trunc 4",
                f"list {atom} {other} | last",
                f'get (dict "k" {atom} "l" {other}) "k"',
                f'(dict "k" {atom} "l" {other}).l',
                f"{atom} | toJson | b64enc",
            )
        )
    )


@st.composite
def conditions(draw: st.DrawFn) -> str:
    return draw(
        st.one_of(
            fields(BOOLS),
            fields(),
            fields(LISTS),
            fields(MAPS),
            fields().map(lambda field: f'eq ({field} | default "") "alpha"'),
            fields(BOOLS).map(lambda field: f"not {field}"),
            st.tuples(fields(BOOLS), fields()).map(lambda pair: f"and {pair[0]} {pair[1]}"),
            fields(NUMBERS).map(lambda field: f"gt (int {field}) 5"),
        )
    )


_KEYS = ("k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8", "same")


@st.composite
def lines(draw: st.DrawFn, indent: int, depth: int, in_list: bool = False) -> str:
    """Statements that print whole lines of one map or one list."""
    statements = draw(st.lists(statement(indent, depth, in_list), min_size=1, max_size=4))
    return "".join(statements)


@st.composite
def statement(draw: st.DrawFn, indent: int, depth: int, in_list: bool) -> str:
    pad = " " * indent
    kinds = ["field", "field", "field"] + (
        ["if", "with", "range", "map", "list", "set", "yaml"] if depth else []
    )
    kind = draw(st.sampled_from(kinds))
    key = draw(st.sampled_from(_KEYS)) + draw(st.sampled_from(("", "a", "b", "c")))
    if kind == "field":
        expression = draw(expressions())
        if in_list:
            return draw(
                st.sampled_from(
                    (
                        f"{pad}- {{{{ {expression} | toString | quote }}}}\n",
                        f"{pad}- name: {{{{ {expression} | toString | quote }}}}\n{pad}  fixed: 1\n",
                    )
                )
            )
        shape = draw(
            st.sampled_from(
                (
                    "{pad}{key}: {{{{ {e} | toString | quote }}}}\n",
                    "{pad}{key}: fixed\n",
                    '{pad}{key}: "x{{{{ if {c} }}}}y{{{{ end }}}}z"\n',
                    "{pad}{key}: [1, {{{{ {e} | toJson }}}}, {{{{ {e2} | toJson }}}}]\n",
                    "{pad}{key}: |\n{pad}  text {{{{ {e} }}}}\n{pad}  more\n",
                )
            )
        )
        return shape.format(pad=pad, key=key, e=expression, e2=draw(expressions()), c=draw(conditions()))
    if kind in ("if", "with"):
        then = draw(lines(indent, depth - 1, in_list))
        condition = draw(conditions())
        text = f"{pad}{{{{- {kind} {condition} }}}}\n{then}"
        if draw(st.booleans()):
            otherwise = draw(lines(indent, depth - 1, in_list))
            test = f" {kind} {draw(conditions())}" if draw(st.booleans()) else ""
            text += f"{pad}{{{{- else{test} }}}}\n{otherwise}"
        return f"{text}{pad}{{{{- end }}}}\n"
    if kind == "range":
        over = draw(fields(LISTS + MAPS + ("missing",)))
        if in_list:
            item = f"{pad}- {{{{ $e | toJson | quote }}}}\n"
            return f"{pad}{{{{- range $i, $e := {over} }}}}\n{item}{pad}{{{{- end }}}}\n"
        return (
            f"{pad}{{{{- range $i, $e := {over} }}}}\n"
            f"{pad}r{{{{ $i }}}}{key}: {{{{ $e | toJson | quote }}}}\n{pad}{{{{- end }}}}\n"
        )
    if kind == "set":
        target = draw(
            st.sampled_from(("$kept = {e}", '$_ := set $box "value" ({e})', '$_ := set $box "{k}" ({e})'))
        )
        action = target.format(e=draw(expressions()), k=draw(st.sampled_from(("value", "other"))))
        return f"{pad}{{{{- {action} }}}}\n"
    if kind == "yaml":
        source = draw(st.sampled_from(("$spec.tags", "$spec.nested", "$box")))
        if in_list:
            return f"{pad}- {{{{ {source} | toJson }}}}\n"
        return f"{pad}{key}:\n{pad}  {{{{- {source} | toYaml | nindent {indent + 2} }}}}\n"
    if in_list:
        return f"{pad}- inner:\n{draw(lines(indent + 4, depth - 1))}"
    if kind == "list":
        return f"{pad}{key}:\n{draw(lines(indent, depth - 1, True))}"
    return f"{pad}{key}:\n{draw(lines(indent + 2, depth - 1))}"


@st.composite
def templates(draw: st.DrawFn) -> str:
    parts = [HELPERS, "{{- $xr := getCompositeResource . }}\n{{- $spec := $xr.spec }}\n"]
    parts.append('{{- $kept := "k" }}\n{{- $box := dict "value" $spec.b "other" "o" }}\n')
    for name in ("one", "two"):
        body = draw(lines(2, 3))
        document = (
            f"---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  annotations:\n"
            f'    {{{{ setResourceNameAnnotation "{name}" }}}}\ndata:\n{body}'
        )
        if draw(st.booleans()):
            document = f"{{{{- if {draw(conditions())} }}}}\n{document}{{{{- end }}}}\n"
        parts.append(document)
    return "".join(parts)
