"""Languages that users write in: templates, CEL, selectors."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

from crossply.apiserver.registry.selectors import fields_match, labels_match, parse_fields, parse_labels
from crossply.apiserver.served_resources import Version
from crossply.compose.wire_codec import encode_response
from crossply.functions.builtin import load as load_function
from crossply.functions.builtin.go_templating.engine.errors import TemplateError
from crossply.functions.builtin.go_templating.program import FUNCTIONS, compile_text
from crossply.schema.cel_object_validation import RuleChecker
from fuzzing.inputs import document, mutated_text, text, value
from fuzzing.value_targets import make_request, request_of

_SLOW = (
    "genPrivateKey", "genCA", "genCAWithKey", "genSelfSignedCert", "genSelfSignedCertWithKey",
    "genSignedCert", "genSignedCertWithKey", "derivePassword", "bcrypt", "htpasswd",
)  # fmt: skip
"""Functions that take long because that is what they are for."""
_NAMES = sorted(set(FUNCTIONS) - set(_SLOW))
_OPERANDS = (
    ".", ".a", ".a.b", "$", "$x", "nil", "true", "1", "-1", "0x1f", "1e3", "9223372036854775807", "'a'",
    '"a"', '""', "`a`", '"%d%v%[9]d"', '"^(a+)+$"', '"2024-01-01"', "(list 1 2)", '(dict "a" 1)',
    '"{a: [1"', '"1.2.3"', "99999", '"xxxxxxxxxx"', "(until 5)", "1i", "1.5",
)  # fmt: skip


def template(rng: random.Random, depth: int = 3) -> str:
    """A template, most of which is right."""
    pieces = []
    for _ in range(rng.randrange(1, 4)):
        kind = rng.randrange(9 if depth else 3)
        if kind == 0:
            pieces.append(
                rng.choice(
                    ("a: b\n", "---\n", "- x\n", "kind: Thing\napiVersion: example.org/v1\n", text(rng))
                )
            )
        elif kind < 3:
            pieces.append("{{ " + pipeline(rng, 2) + " }}")
        elif kind == 3:
            pieces.append(
                "{{- range $i, $x := " + pipeline(rng, 1) + " }}" + template(rng, depth - 1) + "{{ end -}}"
            )
        elif kind == 4:
            pieces.append(
                "{{ if " + pipeline(rng, 1) + " }}" + template(rng, depth - 1) + "{{ else }}b{{ end }}"
            )
        elif kind == 5:
            pieces.append("{{ with " + pipeline(rng, 1) + " }}" + template(rng, depth - 1) + "{{ end }}")
        elif kind == 6:
            pieces.append("{{ $x := " + pipeline(rng, 1) + " }}")
        elif kind == 7:
            pieces.append('{{ define "t" }}' + template(rng, depth - 1) + '{{ end }}{{ template "t" . }}')
        else:
            pieces.append(
                rng.choice(
                    ("{{/* c */}}", "{{ break }}", "{{ continue }}", '{{ include "t" . }}', "{{ block")
                )
            )
    return "".join(pieces)


def pipeline(rng: random.Random, depth: int) -> str:
    """An expression."""
    if depth == 0 or rng.random() < 0.3:
        return rng.choice(_OPERANDS)
    arguments = [
        f"({pipeline(rng, depth - 1)})" if rng.random() < 0.3 else rng.choice(_OPERANDS)
        for _ in range(rng.randrange(4))
    ]
    call = " ".join([rng.choice(_NAMES), *arguments])
    return f"{call} | {rng.choice(_NAMES)}" if rng.random() < 0.3 else call


def make_template(rng: random.Random) -> Any:
    source = template(rng)
    if rng.random() < 0.2:
        source = mutated_text(
            rng, source, ["{{", "}}", "-}}", "{{-", "|", "(", ")", "$", "`", '"', ":=", ".", "end"]
        )
    return {"template": source, "data": {**document(rng), "a": value(rng)}}


def run_template(case_input: Any) -> None:
    try:
        compile_text(case_input["template"]).render(case_input["data"])
    except TemplateError:
        return


def make_template_step(rng: random.Random) -> Any:
    source = {"source": "Inline", "inline": {"template": make_template(rng)["template"]}}
    extra = {rng.choice(("delims", "options", "ttl", "fileSystem", "inline")): value(rng, 2)}
    return {**make_request(rng), "input": {**source, **(extra if rng.random() < 0.3 else {})}}


def run_template_step(case_input: Any) -> None:
    encode_response(load_function("go-templating")(request_of(case_input)))


_CEL_OPERANDS = (
    "self", "self.a", "self.b", "self.list", "self.map", "self.name", "oldSelf", "oldSelf.a", "1", "-1",
    "1u", "1.5", "'x'", "b'x'", "true", "null", "[]", "[1, 2]", "{}", "{'a': 1}", "9223372036854775807",
    "duration('1h')", "timestamp('2024-01-01T00:00:00Z')", "quantity('1Ki')", "'xxxxxxxxxxxxxxxx'",
    "self.map['a']", "self.list[0]", "ip('1.2.3.4')", "cidr('10.0.0.0/8')", "url('http://a')",
    "semver('1.2.3')", "optional.none()",
)  # fmt: skip
_CEL_METHODS = (
    "size()", "startsWith('a')", "matches('(a+)+$')", "matches(self.name)", "contains(self.name)",
    "split(',')", "join()", "all(x, x == 1)", "exists(x, x > 0)", "map(x, [x, x])", "filter(x, true)",
    "map(x, self.list.map(y, y))", "sum()", "lowerAscii()", "replace('a', 'bbbbbbbb')", "substring(1)",
    "substring(-1)", "charAt(99)", "indexOf('x')", "find('a+')", "findAll('.')", "findAll('.', -1)",
    "isSorted()", "min()", "max()", "format(['a'])", "orValue(1)", "hasValue()", "getHours('UTC')",
    "getHours('x')", "asInteger()", "sub(quantity('1'))", "family()", "containsIP('10.0.0.1')",
    "exists_one(x, x)", "transformList(i, v, v)", "a", "reverse()", "distinct()", "flatten()", "sort()",
    "first()",
)  # fmt: skip
_CEL_BINARY = ("+", "-", "*", "/", "%", "==", "!=", "<", ">=", "&&", "||", "in")


def expression(rng: random.Random, depth: int = 3) -> str:
    """An expression of CEL."""
    kind = rng.randrange(8) if depth else 0
    if kind < 2:
        return rng.choice(_CEL_OPERANDS)
    if kind < 5:
        return f"{expression(rng, depth - 1)}.{rng.choice(_CEL_METHODS)}"
    if kind == 5:
        return f"({expression(rng, depth - 1)} {rng.choice(_CEL_BINARY)} {expression(rng, depth - 1)})"
    if kind == 6:
        condition, one, other = (expression(rng, depth - 1) for _ in range(3))
        return f"({condition} == 1 ? {one} : {other})"
    call = rng.choice(
        ("size", "string", "int", "uint", "double", "type", "has", "!", "dyn", "bytes", "quantity", "isURL")
    )
    return f"{call}({expression(rng, depth - 1)})"


_CEL_SCHEMA = {
    "type": "object",
    "properties": {
        "a": {"type": "integer"},
        "b": {"type": "string", "format": "date-time"},
        "name": {"type": "string"},
        "list": {"type": "array", "items": {"type": "integer"}},
        "map": {"type": "object", "additionalProperties": {"type": "string"}},
        "any": {"x-kubernetes-preserve-unknown-fields": True},
        "either": {"x-kubernetes-int-or-string": True},
    },
}


def make_cel(rng: random.Random) -> Any:
    rule = expression(rng)
    if rng.random() < 0.7:
        rule = f"{rule} == {expression(rng, 1)}"
    if rng.random() < 0.15:
        rule = mutated_text(
            rng, rule, ["(", ")", "[", "?.", "[?", "in", "'", '"', "\\", "//", "{", "u", "e9"]
        )
    name = rng.choice(("x", "x" * 100_000, "a,b", "(a+)+$", "\u00e9\u0000"))
    obj = {"a": rng.choice((0, 1, 2**63 - 1)), "name": name, "b": "2024-01-01T00:00:00Z"}
    obj["list"], obj["map"] = list(range(rng.choice((0, 3, 300)))), {"a": "x", text(rng): "y"}
    sources = {"rule": rule, "messageExpression": expression(rng, 2)}
    return {"source": sources, "object": obj, "old": {**obj, "a": 5} if rng.random() < 0.5 else None}


def run_cel(case_input: Any) -> None:
    schema = {**_CEL_SCHEMA, "x-kubernetes-validations": [case_input["source"]]}
    RuleChecker(schema).check(case_input["object"], case_input["old"])


_SELECTORS = (
    "a=b",
    "a==b",
    "a!=b",
    "a in (b,c)",
    "a notin (b)",
    "!a",
    "a",
    "a>1",
    "a<1",
    "x.y/z in ()",
    "a=,b",
)
_SELECTOR_WORDS = [
    "(",
    ")",
    ",",
    "=",
    "==",
    "!=",
    "!",
    " in ",
    " notin ",
    ">",
    "<",
    "/",
    " ",
    "9" * 50,
    "a" * 64,
    "in",
]
_FIELDS = (
    "metadata.name=x",
    "metadata.namespace!=y",
    "spec.nodeName==z",
    "a=b=c",
    "metadata.name",
    "=",
    "a\\,b=c",
)


def make_selectors(rng: random.Random) -> Any:
    def joined(parts: tuple[str, ...]) -> str:
        selector = ",".join(rng.choice(parts) for _ in range(rng.randrange(1, 4)))
        return mutated_text(rng, selector, _SELECTOR_WORDS) if rng.random() < 0.8 else selector

    labels = {rng.choice(("a", "b", "x.y/z", text(rng))): rng.choice(("b", "5", "", "9" * 5000, text(rng)))}
    return {"labels": joined(_SELECTORS), "fields": joined(_FIELDS), "of": labels, "object": document(rng)}


def run_selectors(case_input: Any) -> None:
    _either(lambda: labels_match(parse_labels(case_input["labels"]), case_input["of"]))
    version = Version("v1", selectable_fields=("spec.nodeName", "spec", "apiVersion"))
    _either(
        lambda: fields_match(parse_fields(case_input["fields"], version, custom=True), case_input["object"])
    )


def _either(part: Callable[[], object]) -> None:
    """One of two parts of an input: that the first is refused does not spare us the second."""
    from crossply.errors import CrossplyError

    try:
        part()
    except CrossplyError:
        return


def targets() -> Iterator[tuple[str, Any, Any]]:
    """The name of each target, what makes its input, and what runs it."""
    yield "template", make_template, run_template
    yield "template-step", make_template_step, run_template_step
    yield "cel", make_cel, run_cel
    yield "selectors", make_selectors, run_selectors
