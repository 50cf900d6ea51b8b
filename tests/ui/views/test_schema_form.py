import pytest

from crossply.ui.views.schema_form import Control, UnusableValue, form_of, set_field

SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "required": ["size"],
            "properties": {
                "size": {"type": "string", "enum": ["small", "large"], "default": "small"},
                "replicas": {"type": "integer"},
                "ratio": {"type": "number"},
                "public": {"type": "boolean"},
                "note": {"type": "string"},
                "zones": {"type": "array", "items": {"type": "string"}},
                "rules": {
                    "type": "array",
                    "items": {"type": "object", "properties": {"port": {"type": "integer"}}},
                },
                "extra": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                "a/b~c": {"type": "string"},
            },
        }
    },
}


def _controls(obj: dict) -> dict[str, Control]:
    by_pointer: dict[str, Control] = {}

    def walk(controls: tuple[Control, ...]) -> None:
        for control in controls:
            by_pointer[control.pointer] = control
            walk(control.controls)

    walk(form_of(SCHEMA, obj))
    return by_pointer


@pytest.mark.parametrize(
    ("name", "sort"),
    [
        ("size", "select"),
        ("replicas", "number"),
        ("ratio", "number"),
        ("public", "checkbox"),
        ("note", "text"),
        ("zones", "group"),
        ("extra", "yaml"),
    ],
)
def test_every_type_has_its_control(name: str, sort: str):
    assert _controls({})[f"/spec/{name}"].sort == sort


def test_controls_have_the_values_of_the_object():
    controls = _controls({"spec": {"size": "large", "zones": ["a", "b"], "rules": [{"port": 80}]}})
    assert controls["/spec/size"].value == "large"
    assert [controls[f"/spec/zones/{index}"].value for index in range(2)] == ["a", "b"]
    assert controls["/spec/rules/0/port"].value == "80"
    assert controls["/spec/zones/-"].label == "add"


def test_a_text_of_several_lines_is_left_to_the_yaml():
    assert _controls({"spec": {"note": "a\nb"}})["/spec/note"].sort == "yaml"
    assert _controls({"spec": {"note": "x" * 2000}})["/spec/note"].sort == "yaml"


@pytest.mark.parametrize(
    ("pointer", "text", "spec"),
    [
        ("/spec/size", "large", {"note": "n", "size": "large"}),
        ("/spec/replicas", "3", {"note": "n", "replicas": 3}),
        ("/spec/ratio", "0.5", {"note": "n", "ratio": 0.5}),
        ("/spec/public", "true", {"note": "n", "public": True}),
        ("/spec/zones/-", "a", {"note": "n", "zones": ["a"]}),
        ("/spec/note", "", {}),
        ("/spec/a~1b~0c", "x", {"note": "n", "a/b~c": "x"}),
    ],
)
def test_a_control_sets_its_field_and_nothing_else(pointer: str, text: str, spec: dict):
    obj = {"metadata": {"name": "mine"}, "spec": {"note": "n"}}
    assert set_field(obj, SCHEMA, pointer, text) == {"metadata": {"name": "mine"}, "spec": spec}
    assert obj["spec"] == {"note": "n"}


def test_an_emptied_item_leaves_its_list():
    assert set_field({"spec": {"zones": ["a", "b"]}}, SCHEMA, "/spec/zones/0", "") == {
        "spec": {"zones": ["b"]}
    }


@pytest.mark.parametrize(
    ("pointer", "text"),
    [
        ("/spec/replicas", "many"),
        ("/spec/ratio", "nan"),
        ("/spec/ratio", "1e999"),
        ("/spec/unknown", "x"),
        ("/spec/zones/7", "x"),
        ("", "x"),
        ("/spec" * 30, "x"),
    ],
)
def test_input_that_no_control_sends_is_refused(pointer: str, text: str):
    with pytest.raises(UnusableValue):
        set_field({}, SCHEMA, pointer, text)
