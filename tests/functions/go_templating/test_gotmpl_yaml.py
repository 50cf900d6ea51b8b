"""toYaml and fromYaml: go-yaml v3, which is not what Kubernetes' tools use. The answers are Go's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossply.functions.builtin.go_templating.engine.go_types import Int64, NilList, NilMap
from crossply.functions.builtin.go_templating.engine.signatures import FunctionFailed
from crossply.functions.builtin.go_templating.from_yaml import from_yaml
from crossply.functions.builtin.go_templating.program import compile_text
from crossply.functions.builtin.go_templating.yaml_encoder import to_yaml

WRITTEN = [
    ({"b": Int64(1), "a": {"c": "x"}}, "a:\n    c: x\nb: 1\n", "keys sorted, four columns a level"),
    (["b", ["c", "d"]], "- b\n- - c\n  - d\n", "lists in lists"),
    ({"l": ["a", {"k": ["v"]}]}, "l:\n    - a\n    - k:\n        - v\n", "lists stand right of their key"),
    ({"t": "l1\nl2\n"}, "t: |\n    l1\n    l2\n", "several lines are a block"),
    ({"t": "l1\nl2"}, "t: |-\n    l1\n    l2\n", "without a break at the end"),
    ({"t": " l1\nl2\n"}, "t: |4\n     l1\n    l2\n", "with a blank at the start"),
    ({"t": "\nl1"}, "t: |4-\n    l1\n", "an empty line at the start gets lost, in Go"),
    (["a\tb\n"], "- |\n  a\tb\n", "tabs"),
    (["a\nb\n"], "- |\n  a\n  b\n", "in a list"),
    ("a\nb\n", "|\n    a\n    b\n", "alone"),
    (
        {"y": "yes", "n": "1", "e": "", "d": "2024-01-01"},
        'd: "2024-01-01"\ne: ""\n"n": "1"\n"y": "yes"\n',
        "quotes",
    ),
    (["a: b", "# c", "*d", " e"], "- 'a: b'\n- '# c'\n- '*d'\n- ' e'\n", "signs"),
    (["x " * 60 + "y"], "- " + "x " * 60 + "y\n", "long lines are not folded"),
    (
        [None, True, 1.5, 1e6, 1e21, float("inf")],
        "- null\n- true\n- 1.5\n- 1e+06\n- 1e+21\n- .inf\n",
        "scalars",
    ),
    ({"a": [], "b": {}, "c": NilMap(), "d": NilList()}, "a: []\nb: {}\nc: {}\nd: []\n", "empty ones"),
    ({"v10": "a", "v2": "b"}, "v2: b\nv10: a\n", "natural order"),
]

READ = [
    ("a: 1\nb: [x, 1.5, true, null]", {"a": 1, "b": ["x", 1.5, True, None]}, "types"),
    (
        "[yes, on, y, ~, 0x1F, 0o17, 017, 1_000]",
        ["yes", "on", "y", None, 31, 15, 15, 1000],
        "old words are strings",
    ),
    ("a: &x {b: 1}\nc: *x", {"a": {"b": 1}, "c": {"b": 1}}, "aliases"),
    (
        "a: &x {b: 1, c: 2}\nd:\n  <<: *x\n  c: 3",
        {"a": {"b": 1, "c": 2}, "d": {"b": 1, "c": 3}},
        "merge keys",
    ),
    ("1: a\ntrue: b", {"1": "a", "true": "b"}, "keys are strings"),
    ("!!str 5", "5", "tags"),
    ("", None, "nothing"),
    ("a: 1\n---\nb: 2", {"a": 1}, "the first document"),
]


@pytest.mark.parametrize(("value", "text"), [row[:2] for row in WRITTEN], ids=[row[2] for row in WRITTEN])
def test_values_are_written_as_go_yaml_3_writes_them(value, text):
    assert to_yaml(value) == text


@pytest.mark.parametrize(("text", "value"), [row[:2] for row in READ], ids=[row[2] for row in READ])
def test_text_is_read_as_go_yaml_3_reads_it(text, value):
    assert from_yaml(text) == value


def test_dates_are_instants():
    assert compile_text('{{ fromYaml "2024-01-02" }}').render({}) == "2024-01-02 00:00:00 +0000 UTC"
    assert compile_text('{{ (fromYaml "2024-01-02T03:04:05Z").Hour }}').render({}) == "3"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: 1\na: 2", 'mapping key "a" already defined at line 1'),
        ("a: [", "yaml: "),
        ("a: *b", "unknown anchor 'b' referenced"),
        ("a: &a [*a]", "value contains itself"),
        (
            "a: &a [x,x,x,x,x,x,x,x]\n"
            + "\n".join(
                f"{key}: &{key} [{','.join([f'*{before}'] * 9)}]"
                for before, key in zip("abcdef", "bcdefg", strict=True)
            ),
            "excessive aliasing",
        ),
    ],
)
def test_text_that_is_no_yaml_is_refused(text, problem):
    with pytest.raises(FunctionFailed) as raised:
        from_yaml(text)
    assert problem in str(raised.value)


texts = st.text(st.characters(codec="utf-8")).filter(lambda text: not text.startswith("\n"))
scalars = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | texts
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("ab1: -#'", max_size=4), inner),
    max_leaves=10,
)


@given(values)
def test_yaml_output_parses_to_the_same(value):
    assert from_yaml(to_yaml(value)) == value
