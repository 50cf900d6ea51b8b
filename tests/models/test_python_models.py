"""Typed models of kinds: Python that type checkers and linters accept, and that loses nothing."""

from __future__ import annotations

import pathlib
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crossply.models.dataclass_models import module_text
from crossply.models.python_names import class_name, field_name, module_name
from crossply.models.structural_schema_classes import models_of
from crossply.values import Object

SCHEMA: Object = {
    "description": 'Says """all""" there is, \\ and more.',
    "type": "object",
    "required": ["spec"],
    "properties": {
        "spec": {
            "type": "object",
            "description": "What is wanted.\n\nA second paragraph that is so long that it must be wrapped. "
            * 3,
            "required": ["class", "ports", "maybe"],
            "properties": {
                "class": {"type": "string", "description": 'A reserved word that ends in a quote "'},
                "size": {"type": "string", "enum": ["small", "large"], "default": "small"},
                "level": {"type": "integer", "enum": [1, 2]},
                "ratio": {"type": "number", "default": 0.5},
                "on": {"type": "boolean", "default": True},
                "port": {"x-kubernetes-int-or-string": True},
                "ports": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["port"],
                        "properties": {"port": {"type": "integer"}, "name": {"type": "string"}},
                    },
                },
                "matrix": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
                "tags": {"type": "object", "additionalProperties": {"type": "string"}},
                "zones": {
                    "type": "object",
                    "additionalProperties": {
                        "type": "array",
                        "items": {"type": "object", "properties": {"a": {"type": "string"}}},
                    },
                },
                "maybe": {"type": "string", "nullable": True},
                "open": {
                    "type": "object",
                    "x-kubernetes-preserve-unknown-fields": True,
                    "properties": {"rest": {"type": "string"}},
                },
                "any": {"x-kubernetes-preserve-unknown-fields": True},
                "anyMap": {"type": "object"},
                "list": {"type": "array", "items": {"type": "string"}, "default": ["a"]},
                "str": {"type": "string"},
                "nested": {
                    "type": "object",
                    "default": {},
                    "properties": {"deep": {"type": "integer", "default": 4}},
                },
                "clusterIPs": {"type": "array", "items": {"type": "string"}},
                "foo-bar": {"type": "string"},
                "fooBar": {"type": "string"},
                "1st": {"type": "string"},
                "_": {"type": "string"},
                "from_dict": {"type": "string"},
                "aFieldWithAVeryLongNameThatNoLineOfCodeHasRoomFor": {
                    "type": "object",
                    "properties": {"anotherFieldWithALongName": {"type": "string"}},
                },
            },
        }
    },
}


def crd(schema: Object, kind: str = "App") -> Object:
    version = {"name": "v1", "served": True, "schema": {"openAPIV3Schema": schema}}
    old = {"name": "v0", "served": False}
    return {"spec": {"group": "example.org", "names": {"kind": kind}, "versions": [old, version]}}


def code_of(schema: Object) -> str:
    return module_text(models_of(crd(schema)), "definition.yaml")


def class_of(schema: Object) -> Any:
    # Dataclasses look up their module.
    module = type(sys)("generated_models")
    sys.modules["generated_models"] = module
    exec(compile(code_of(schema), "generated_models.py", "exec"), vars(module))
    return vars(module)["App"]


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    path = tmp_path_factory.mktemp("models") / "example_org_v1.py"
    path.write_text(code_of(SCHEMA))
    return path


def test_type_checkers_accept_it(generated: pathlib.Path) -> None:
    use = generated.with_name("use.py")
    use.write_text(
        "from example_org_v1 import App, AppSpec, AppSpecPortsItem\n"
        'app = App(spec=AppSpec(class_="x", ports=[AppSpecPortsItem(port=80)], maybe=None))\n'
        'size: str = app.spec.size\napp.spec.size = "large"\nport: int | str | None = app.spec.port\n'
    )
    words = ["--strict", "--no-incremental", "--cache-dir", str(generated.parent / "cache"), "use.py"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *words], cwd=generated.parent, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


def test_linters_accept_it(generated: pathlib.Path) -> None:
    config = pathlib.Path(__file__).parents[2] / "pyproject.toml"
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--no-cache", "--config", str(config), str(generated)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout


def test_values_read_by_name_and_are_written_by_key() -> None:
    app = class_of(SCHEMA)
    value = {"spec": {"class": "x", "ports": [{"port": 1}], "maybe": None}}
    read = app.from_dict(value)
    assert (read.kind, read.api_version, read.spec.class_, read.spec.size) == (
        "App",
        "example.org/v1",
        "x",
        "small",
    )
    assert read.spec.nested.deep == 4
    assert read.spec.list_ == ["a"]
    written = read.to_dict()
    assert written["spec"]["ports"] == [{"port": 1}]
    assert written["spec"]["maybe"] is None
    assert "tags" not in written["spec"]
    with pytest.raises(KeyError, match="class"):
        app.from_dict({"spec": {}})


def test_a_read_model_shares_nothing_with_its_source() -> None:
    app = class_of(SCHEMA)
    value = {"spec": {"class": "x", "ports": [], "maybe": None, "tags": {"a": "b"}}}
    read = app.from_dict(value)
    read.spec.tags["c"] = "d"
    assert value["spec"]["tags"] == {"a": "b"}  # type: ignore[index]
    assert app.from_dict(value).spec.list_ is not app.from_dict(value).spec.list_


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("clusterIPs", "cluster_ips"),
        ("apiVersion", "api_version"),
        ("URLPath", "url_path"),
        ("class", "class_"),
        ("list", "list_"),
        ("foo-bar.baz", "foo_bar_baz"),
        ("1st", "field_1st"),
        ("$", "field_"),
        ("from_dict", "from_dict_"),
    ],
)
def test_keys_become_names(key: str, name: str) -> None:
    assert field_name(key, ()) == name


def test_names_are_unique_and_modules_have_names() -> None:
    assert field_name("fooBar", ["foo_bar"]) == "foo_bar_2"
    assert class_name("App", "spec", ["AppSpec"]) == "AppSpec2"
    assert module_name("apps.example.org", "v1beta1") == "apps_example_org_v1beta1"


LEAVES = st.sampled_from(
    [
        {"type": "string"},
        {"type": "string", "enum": ["a", "b"]},
        {"type": "string", "default": "a"},
        {"type": "integer"},
        {"type": "integer", "default": 3},
        {"type": "number"},
        {"type": "boolean", "default": False},
        {"x-kubernetes-int-or-string": True},
        {"type": "object"},
        {"type": "string", "nullable": True},
    ]
)
KEYS = st.sampled_from(["a", "fooBar", "foo_bar", "class", "list", "x-y", "value", "self", "0", "def"])


def _objects(inner: st.SearchStrategy[Object]) -> st.SearchStrategy[Object]:
    return st.builds(
        lambda properties, required, preserve: {
            "type": "object",
            "properties": properties,
            "required": [key for key in sorted(properties) if key in required],
            **({"x-kubernetes-preserve-unknown-fields": True} if preserve else {}),
        },
        st.dictionaries(KEYS, inner, min_size=1, max_size=4),
        st.sets(KEYS),
        st.booleans(),
    )


SCHEMAS = _objects(
    st.recursive(
        LEAVES,
        lambda inner: st.one_of(
            _objects(inner),
            inner.map(lambda items: {"type": "array", "items": items}),
            inner.map(lambda values: {"type": "object", "additionalProperties": values}),
        ),
        max_leaves=8,
    )
)


def values_of(schema: Object) -> st.SearchStrategy[Any]:
    """Values that the schema allows, with its defaults filled in; null stands for absent: it is left out."""
    if "properties" in schema:
        required = schema["required"]
        always_present = {}
        optional = {}
        for key, inner in schema["properties"].items():
            always = key in required or "default" in inner
            (always_present if always else optional)[key] = values_of(inner)
        return st.fixed_dictionaries(always_present, optional=optional)
    if "additionalProperties" in schema:
        return st.dictionaries(KEYS, values_of(schema["additionalProperties"]), max_size=2)
    if schema.get("type") == "array":
        return st.lists(values_of(schema["items"]), max_size=2)
    if schema.get("enum"):
        return st.sampled_from(schema["enum"])
    return {
        "string": st.text(max_size=3),
        "integer": st.integers(),
        "number": st.floats(allow_nan=False),
        "boolean": st.booleans(),
        "object": st.dictionaries(KEYS, st.integers(), max_size=2),
        None: st.integers() | st.text(max_size=2),
    }[schema.get("type")]


@settings(max_examples=60, deadline=None)
@given(st.data(), SCHEMAS)
def test_nothing_is_lost_between_reading_and_writing(data: st.DataObject, schema: Object) -> None:
    app = class_of({"type": "object", "required": ["spec"], "properties": {"spec": schema}})
    head = {"apiVersion": "example.org/v1", "kind": "App", "metadata": {"name": "x"}}
    value = {**head, "spec": data.draw(values_of(schema))}
    read = app.from_dict(value)
    assert read.to_dict() == value
    assert app.from_dict(read.to_dict()) == read


@pytest.mark.parametrize("kind", ["", "class", "Any", "my-kind", "1st", 'x"""\nimport os\n"""', "Ünï"])
def test_whatever_names_a_definition_gives_the_code_is_sound(kind: str) -> None:
    hostile = 'a"""\nraise SystemExit\n"""\\'
    schema = {
        "type": "object",
        "description": hostile,
        "properties": {hostile: {"type": "string", "description": hostile, "enum": [hostile]}},
    }
    wicked = crd(schema, kind)
    wicked["spec"]["group"] = hostile
    code = module_text(models_of(wicked), hostile)
    module: dict[str, Any] = {"__name__": "generated_models"}
    sys.modules["generated_models"] = type(sys)("generated_models")
    exec(compile(code, "generated_models.py", "exec"), module)
    model = module[models_of(wicked)[0].models[0].name]
    assert model.from_dict({hostile: hostile}).to_dict()[hostile] == hostile


def test_kinds_that_share_a_module_have_classes_of_their_own() -> None:
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"a": {}}}}}
    names_by_module: dict[tuple[str, str], set[str]] = {}
    kinds = [
        *models_of(crd(schema, "App"), names_by_module),
        *models_of(crd(schema, "AppSpec"), names_by_module),
    ]
    names = [model.name for kind in kinds for model in kind.models]
    assert names == ["App", "AppSpec", "AppSpec2", "AppSpec2Spec"]


def test_a_bottomless_schema_ends() -> None:
    schema: Object = {"type": "string"}
    for _ in range(200):
        schema = {"type": "object", "properties": {"a": schema}}
    assert "Any" in code_of({"type": "object", "properties": {"spec": schema}})
