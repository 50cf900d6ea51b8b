"""The walks that CONTRIBUTING.md lists are short, and their modules exist."""

from __future__ import annotations

import pytest

from crossply.cli.main import main
from tests.support.docs.repository import modules
from tests.support.docs.walks import (
    Walk,
    stated_length_of_an_edit,
    walk_of_a_function_package,
    walk_of_a_render,
    walk_of_a_write,
    walk_of_an_edit,
)
from tests.support.entered_modules import entered_modules
from tests.support.paths import ROOT

MOST_MODULES = 20
WALKS = pytest.mark.parametrize(
    ("walk", "first", "last"),
    [
        (walk_of_an_edit(), "kube/informer", "kube/client"),
        (walk_of_a_render(), "rendering/inputs", "rendering/output"),
        (walk_of_a_write(), "http/server", "http/response_streaming"),
        (walk_of_a_function_package("deployment"), "package_manager/controllers", "runner_factory"),
        (walk_of_a_function_package("container"), "package_manager/controllers", "runner_factory"),
    ],
    ids=["an edit", "a render", "a write", "a Function in a cluster", "a Function on one machine"],
)


@WALKS
def test_a_walk_passes_at_most_twenty_modules_that_exist(walk: Walk, first: str, last: str) -> None:
    passed = list(dict.fromkeys(module for part in walk for module in part))
    assert (passed[0], passed[-1]) == (first, last)
    assert len(passed) <= MOST_MODULES
    assert [module for module in passed if module not in modules()] == []


@WALKS
def test_a_walk_comes_to_no_module_twice(walk: Walk, first: str, last: str) -> None:
    for part in walk:
        assert len(part) == len(set(part))


def test_the_walk_of_an_edit_has_as_many_modules_as_it_says() -> None:
    assert sum(map(len, walk_of_an_edit())) == stated_length_of_an_edit()


def test_a_render_passes_the_listed_modules_in_their_order() -> None:
    names = ("xr.yaml", "composition.yaml", "functions.yaml")
    words = ["render", *(str(ROOT / "examples/00-quick-start" / name) for name in names)]
    assert main(words) == 0  # loads the modules: running the code of one is not entering it
    with entered_modules() as entered:
        assert main(words) == 0
    order = list(dict.fromkeys(module for module, _ in entered))
    listed = [module for part in walk_of_a_render() for module in part]
    assert sorted(listed, key=order.index) == listed
