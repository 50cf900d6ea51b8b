"""Of large modules a program gets the files whose names it uses, and means the same by them."""

from __future__ import annotations

from pathlib import Path

import pytest

from crossply.functions.builtin.kcl.imported_files import SchemaPackage, words_of
from tests.support.functions.kcl import composed

MODELS = {
    "kcl.mod": '[package]\nname = "models"\n',
    "v1/bucket.k": (
        "import models.meta\nschema Bucket(Base):\n    metadata: meta.Meta\n    spec: BucketSpec\n"
    ),
    "v1/base.k": 'schema Base:\n    """\n    every kind has these\n    """\n    kind: str = "K"\n',
    "v1/spec.k": "schema BucketSpec:\n    size: int\n\n    check:\n        size > 0, 'too small'\n",
    "v1/queue.k": "schema Queue:\n    broken: Missing\n",
    "v1/constants.k": "schema Limits:\n    small?: int\n    large?: int\n\nlimits: Limits {small = 1}\n",
    "v1/partial_one.k": "limits: Limits {large = 9}\n",
    "meta/meta.k": "type Name = str\n\nschema Meta:\n    name: Name\n",
    "meta/owner.k": "schema Owner:\n    uid: Missing\n",
    "alone/one.k": "schema One:\n    a: int\n",
    "alone/two.k": "schema Two:\n    a: int\n    b: int\n",
}


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    for name, text in MODELS.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setenv("CROSSPLY_TEMPLATES", str(tmp_path))
    return f'models = {{ path = "{tmp_path}" }}'


def test_a_schema_comes_with_its_base_its_types_and_its_checks(models: str) -> None:
    source = 'import models.v1\nitems = [v1.Bucket {metadata.name = "b", spec.size = v1.limits.large}]'
    assert composed(source, spec={"dependencies": models})["b"].object == {
        "kind": "K",
        "metadata": {"name": "b"},
        "spec": {"size": 9},
    }


def test_an_imported_but_unused_package_is_loaded(models: str) -> None:
    source = 'import models.alone\nimport models.meta as m\nitems = [{metadata.name = "x"}]'
    assert list(composed(source, spec={"dependencies": models})) == ["x"]


def test_files_are_loaded_by_the_names_that_occur_and_once() -> None:
    files = {path: text for path, text in MODELS.items() if path.startswith("v1/")}
    package = SchemaPackage(files)
    first = [path for path, _ in package.take(words_of("v1.Bucket {}"))]
    assert sorted(first) == ["v1/base.k", "v1/bucket.k", "v1/constants.k", "v1/partial_one.k", "v1/spec.k"]
    assert [path for path, _ in package.take(words_of("v1.Queue {}"))] == ["v1/queue.k"]
    assert list(package.take(words_of("v1.Bucket {} v1.Queue {}"))) == []


@pytest.mark.parametrize(
    "text",
    [
        "assert False, 'always checked'\n",
        "a = 1\n",
        "a: int = 1\n",
        "if True:\n    a = 1\n",
        "print('x')\n",
        "schema S:\n    a: int\n\nS {a = 1}\n",
    ],
)
def test_a_file_with_more_than_definitions_is_always_loaded(text: str) -> None:
    package = SchemaPackage({"one.k": text, "two.k": "schema Two:\n    a: int\n"})
    assert [path for path, _ in package.take(frozenset())] == ["one.k"]


def test_the_smallest_file_stands_for_a_package_of_which_nothing_is_used() -> None:
    files = {"long.k": "schema Long:\n    a: int\n    b: int\n", "short.k": "schema S:\n    a: int\n"}
    assert [path for path, _ in SchemaPackage(files).take(frozenset())] == ["short.k"]
    assert sorted(path for path, _ in SchemaPackage(files, is_whole=True).take(frozenset())) == list(files)
