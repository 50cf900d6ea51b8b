from crossply.ui.views.schema_fields import MAX_FIELDS, SchemaField, schema_fields, type_name

SIZE = {
    "type": "string",
    "enum": ["small", "large"],
    "default": "small",
    "description": "How large it is.",
}


def _field(schema: dict, required: tuple[str, ...] = ()) -> SchemaField:
    [field] = schema_fields({"properties": {"field": schema}, "required": list(required)})
    return field


def test_required_fields_come_first_then_the_others_by_name():
    fields = schema_fields({"properties": {"b": {}, "a": {}, "z": {}}, "required": ["z"]})
    assert [(field.name, field.required) for field in fields] == [("z", True), ("a", False), ("b", False)]


def test_a_field_shows_its_type_default_values_and_description():
    field = _field(SIZE)
    assert (field.type, field.default, field.enum) == ("string", "small", ("small", "large"))
    assert field.description == "How large it is."


def test_limits_and_rules_become_short_texts():
    field = _field(
        {
            "type": "integer",
            "minimum": 1,
            "maximum": 9,
            "x-kubernetes-validations": [{"rule": "self != 5", "message": "not five"}, {"rule": "self > 0"}],
        }
    )
    assert field.rules == ("≥ 1", "≤ 9", "not five", "self > 0")


def test_types_have_human_readable_names():
    assert type_name({"type": "array", "items": {"type": "integer"}}) == "[]integer"
    assert type_name({"type": "object", "additionalProperties": {"type": "string"}}) == "map[string]string"
    assert type_name({"x-kubernetes-int-or-string": True}) == "integer or string"
    assert type_name({"type": "object", "x-kubernetes-preserve-unknown-fields": True}) == "any object"


def test_fields_in_lists_and_maps_have_the_path_of_an_item():
    inner = {"type": "object", "properties": {"name": {"type": "string"}}}
    listed = _field({"type": "array", "items": inner})
    mapped = _field({"type": "object", "additionalProperties": inner})
    assert [field.path for field in listed.walk()] == ["field", "field[].name"]
    assert [field.path for field in mapped.walk()] == ["field", "field.*.name"]


def test_a_schema_of_any_depth_ends():
    schema: dict = {"type": "string"}
    for _ in range(100):
        schema = {"type": "object", "properties": {"deeper": schema}}
    rows = [row for field in schema_fields(schema) for row in field.walk()]
    assert len(rows) < 30
    assert rows[-1].type == "deeper levels are not shown"


def test_a_schema_of_any_width_ends():
    fields = schema_fields({"properties": {f"f{number:05}": {} for number in range(MAX_FIELDS + 10)}})
    assert len(fields) == MAX_FIELDS + 1
    assert fields[-1].type == "further fields are not shown"


def test_a_schema_that_is_no_schema_has_no_fields():
    assert schema_fields({"properties": 1, "required": "all"}) == ()
    assert _field({"properties": "x", "enum": 3, "items": 1, "type": "array"}).type == "[]any"
