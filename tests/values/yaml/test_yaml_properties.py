"""What holds for every value: it comes back as it was, and is always written the same way."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from crossply.values.yaml import YamlError, dump, dump_all, load, read_stream
from crossply.values.yaml.floats import through_json

TEXT = st.text(max_size=40) | st.sampled_from(
    ["yes", "~", "1e3", "0x1F", "a: b", "x\n", "\n y", "- a", "<<", "a\u2028b", "2024-01-01", "word " * 30]
)
NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


def as_json_has_it(value: Any) -> Any:
    """Turn floats that JSON writes as integers into integers."""
    if isinstance(value, float):
        return through_json(value)
    if isinstance(value, dict):
        return {key: as_json_has_it(item) for key, item in value.items()}
    return [as_json_has_it(item) for item in value] if isinstance(value, list) else value


@given(VALUES)
def test_written_yaml_reads_back_the_same(value: Any) -> None:
    written = dump(value)
    assert repr(load(written)) == repr(load(written, strict=True))
    assert load(written) == as_json_has_it(value)


@given(VALUES)
def test_rewriting_changes_nothing(value: Any) -> None:
    written = dump(value)
    assert dump(load(written)) == written


@given(st.dictionaries(TEXT, st.integers(), min_size=2, max_size=8), st.randoms())
def test_the_order_of_insertion_does_not_matter(value: dict[str, int], random: Any) -> None:
    keys = list(value)
    random.shuffle(keys)
    assert dump({key: value[key] for key in keys}) == dump(value)


@given(st.lists(VALUES, max_size=4))
def test_documents_written_together_are_read_one_by_one(values: list[Any]) -> None:
    documents = read_stream(dump_all(values))
    assert [document.value for document in documents] == [as_json_has_it(value) for value in values]


PIECES = ["a", "b: ", "- ", "\n", "  ", "[", "]", "{", "}", ",", ": ", "?", "&x ", "*x", "!!int ", "'", '"']
PIECES += ["|\n", "<<: ", "---\n", "#", "\t", "%", "1", "yes", "~", "\0", "é", "\r", "::"]


@settings(max_examples=300)
@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), st.booleans())
def test_any_text_is_read_or_refused_and_never_fails_otherwise(text: str, strict: bool) -> None:
    try:
        documents = read_stream(text, "x.yaml", strict=strict)
    except YamlError as error:
        refusal: YamlError | None = error
    else:
        refusal = None
    if refusal is not None:
        assert str(refusal)
        assert refusal.place.startswith("x.yaml:")
        return
    for document in documents:
        assert load(dump(document.value)) == document.value
        document.locate(("a", 0))
