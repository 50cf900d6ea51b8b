"""Definitions that refer to each other are compiled once, and are complete for whoever gets them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import get_ident

import pytest

from crossply.values.recursive_type_cache import DefinitionCache

REFERENCES = {"tree": ("leaf", "tree"), "leaf": (), "root": ("tree", "leaf")}


class Definition:
    def __init__(self, name: str) -> None:
        self.name = name
        self.references: list[Definition] = []


def names(definition: Definition) -> list[str]:
    return [reference.name for reference in definition.references]


def test_a_definition_may_refer_to_itself() -> None:
    def fill(definition: Definition, name: str) -> None:
        definition.references += map(cache.get, REFERENCES[name])

    cache = DefinitionCache(Definition, fill)
    tree = cache.get("tree")
    assert tree.references[1] is tree


def test_a_definition_is_compiled_once() -> None:
    compiled = []

    def fill(definition: Definition, name: str) -> None:
        compiled.append(name)
        definition.references += map(cache.get, REFERENCES[name])

    cache = DefinitionCache(Definition, fill)
    assert cache.get("root").references[1] is cache.get("leaf")
    assert sorted(compiled) == ["leaf", "root", "tree"]


def test_another_thread_never_gets_an_incomplete_definition() -> None:
    compiling, answers = get_ident(), []

    def fill(definition: Definition, name: str) -> None:
        for reference in REFERENCES[name]:
            definition.references.append(cache.get(reference))
            if get_ident() == compiling:
                answers.extend((root, names(other.submit(cache.get, root).result())) for root in REFERENCES)

    cache = DefinitionCache(Definition, fill)
    with ThreadPoolExecutor(1) as other:
        cache.get("root")
    assert len(answers) > len(REFERENCES)
    assert [known for known in answers if known[1] != list(REFERENCES[known[0]])] == []


def test_what_could_not_be_compiled_is_compiled_again() -> None:
    problems = [ValueError("unreadable")]

    def fill(definition: Definition, name: str) -> None:
        definition.references += map(cache.get, REFERENCES[name])
        if problems:
            raise problems.pop()

    cache = DefinitionCache(Definition, fill)
    with pytest.raises(ValueError, match="unreadable"):
        cache.get("root")
    assert names(cache.get("root")) == ["tree", "leaf"]
