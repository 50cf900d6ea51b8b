"""Caches are trusted, so they are where no other user can make them."""

from __future__ import annotations

import os
import pwd

import pytest

from crossply.containers.settings import store_directory
from crossply.functions.builtin.kcl import module_source_policy
from crossply.functions.builtin.starlark import registry_artifacts
from crossply.values.cache_directory import cache_directory

OWN = os.path.join(pwd.getpwuid(os.getuid()).pw_dir, ".cache", "crossply")


@pytest.mark.parametrize(
    ("environ", "directory"),
    [
        ({"XDG_CACHE_HOME": "/c", "HOME": "/h"}, "/c/crossply/x"),
        ({"HOME": "/h"}, "/h/.cache/crossply/x"),
        ({}, f"{OWN}/x"),
    ],
)
def test_a_cache_is_in_the_users_home(environ: dict[str, str], directory: str) -> None:
    assert cache_directory(environ, "x") == directory


def test_without_an_environment_images_and_modules_are_not_where_others_can_put_them() -> None:
    assert store_directory({}) == f"{OWN}/containers"
    assert module_source_policy.access_of({}).cache == f"{OWN}/kcl"
    assert registry_artifacts.access_of({}).cache == f"{OWN}/starlark"
