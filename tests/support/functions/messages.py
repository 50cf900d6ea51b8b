"""Function messages of every shape, made by hypothesis."""

from __future__ import annotations

from hypothesis import strategies as st

from crossply.compose.function_messages import (
    Condition,
    Request,
    Requirements,
    Resource,
    ResourceRef,
    ResourceSelector,
    Response,
    Result,
    SchemaSelector,
    Snapshot,
    State,
)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
names = st.text("abcé-./", max_size=6)
numbers = st.integers(-(2**53), 2**53).map(float) | st.floats(allow_nan=False, allow_infinity=False)
enums = st.integers(0, 3)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(texts, values, max_size=4)
secrets = st.dictionaries(names, st.binary(max_size=6), max_size=3)
encoded_resources = st.tuples(objects, secrets).map(lambda pair: Resource.of(Snapshot(pair[0]), pair[1]))
resources = st.tuples(objects, secrets, enums).map(lambda parts: Resource(*parts)) | encoded_resources
resource_lists = st.dictionaries(names, st.lists(resources, max_size=2).map(tuple), max_size=2)
states = st.builds(State, st.none() | resources, st.dictionaries(names, resources, max_size=3))
optional_objects = st.none() | objects

requests = st.builds(
    Request,
    states,
    states,
    input=optional_objects,
    context=optional_objects,
    extra_resources=resource_lists,
    credentials=st.dictionaries(names, secrets, max_size=2),
    required_resources=resource_lists,
    required_schemas=st.dictionaries(names, optional_objects, max_size=2),
    capabilities=st.lists(st.integers(0, 200), max_size=6).map(tuple),
    tag=st.none() | names,
)

labels = st.dictionaries(names, texts, max_size=2)
selectors = st.builds(
    ResourceSelector, texts, texts, st.none() | texts, st.none(), st.none() | texts
) | st.builds(ResourceSelector, texts, texts, st.none(), labels, st.none() | texts)
requirements = st.builds(
    Requirements,
    st.dictionaries(names, selectors, max_size=2),
    st.dictionaries(names, selectors, max_size=2),
    st.dictionaries(names, st.builds(SchemaSelector, texts, texts), max_size=2),
    st.lists(st.builds(ResourceRef, texts, texts, texts, st.none() | texts), max_size=2).map(tuple),
)
responses = st.builds(
    Response,
    st.none() | states,
    st.lists(st.builds(Result, enums, texts, st.none() | texts, st.none() | enums), max_size=2).map(tuple),
    optional_objects,
    st.none() | requirements,
    st.lists(st.builds(Condition, texts, enums, texts, st.none() | texts, st.none() | enums), max_size=2).map(
        tuple
    ),
    st.none() | st.integers(-(10**15), 10**15),
    names,
    optional_objects,
)
