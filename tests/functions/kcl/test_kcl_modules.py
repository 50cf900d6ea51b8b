"""function-kcl: programs of several files, from directories that the operator allows."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from crossply.compose.function_messages import Request
from crossply.functions.builtin.kcl.function import DEFAULT_SOURCE, run_module
from crossply.functions.builtin.kcl.module_source_policy import DIRECTORIES
from tests.support.functions.kcl import OBSERVED, answered, composed, fatal_of

MAIN = """
import shapes
import ext.api.v1 as api
oxr = option("params").oxr
items = [api.Bucket {metadata.name = "b", spec.size = shapes.sizes.large, spec.region = oxr.spec.region}]
"""
MODULE = {
    "app/kcl.mod": '[package]\nname = "app"\n[dependencies]\next = { path = "../ext" }\n',
    "app/main.k": MAIN,
    "app/shapes/sizes.k": "sizes = {large = 10}\n",
    "app/main_test.k": "this is no program\n",
    "ext/kcl.mod": '[package]\nname = "ext"\nversion = "0.1.0"\n',
    "ext/api/v1/bucket.k": (
        "import ext.meta\nschema Bucket:\n    apiVersion: str = 'v1'\n    kind: str = 'Bucket'\n"
        "    metadata: meta.Metadata\n    spec: {str:any}\n"
    ),
    "ext/meta/metadata.k": "schema Metadata:\n    name: str\n",
}
BUCKET = {
    "apiVersion": "v1",
    "kind": "Bucket",
    "metadata": {"name": "b"},
    "spec": {"size": 10, "region": "eu"},
}


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(tmp_path, MODULE)
    monkeypatch.setenv(DIRECTORIES, str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("source", ["app", "app/main.k", "app/../app/"])
def test_a_module_is_run_with_its_packages_and_path_dependencies(root: Path, source: str) -> None:
    assert composed(f"{root}/{source}")["b"].object == BUCKET


def test_an_inline_program_imports_its_dependencies(root: Path) -> None:
    source = 'import ext.api.v1\nitems = [v1.Bucket {metadata.name = "b", spec = {size = 1}}]'
    dependencies = f'ext = {{ path = "{root}/ext" }}'
    assert composed(source, spec={"dependencies": dependencies})["b"].object["spec"] == {"size": 1}
    message = fatal_of(answered(source))
    assert "prog.k:1:1" in message
    assert "ext.api.v1 not found" in message


def test_an_edited_module_is_reread(root: Path) -> None:
    assert composed(f"{root}/app")["b"].object["spec"]["size"] == 10
    (root / "app/shapes/sizes.k").write_text("sizes = {large = 20000}\n")
    assert composed(f"{root}/app")["b"].object["spec"]["size"] == 20000
    (root / "app/more.k").write_text('_more = "no variable"\n')
    (root / "app/shapes/sizes.k").write_text("sizes = {large = 3}\n")
    assert composed(f"{root}/app")["b"].object["spec"]["size"] == 3


def test_relative_imports_lead_through_the_module(root: Path) -> None:
    write(
        root,
        {
            "app/deep/entry.k": "import ..shapes\nimport .here\nimport .down.below\n"
            'items = [{metadata.name = "r", v = [shapes.sizes.large, here.a, below.b]}]\n',
            "app/deep/here.k": "a = 1\n",
            "app/deep/down/below.k": "b = 2\n",
        },
    )
    assert composed(f"{root}/app/deep/entry.k")["r"].object["v"] == [10, 1, 2]


def test_files_are_read_only_where_the_operator_allows_it(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "permission denied" in fatal_of(answered("/etc/passwd"))
    assert "permission denied" in fatal_of(answered(f"{root}/../outside"))
    os.symlink("/etc", root / "app/link")
    (root / "app/main.k").write_text("import link\nitems = []\n")
    assert "permission denied" in fatal_of(answered(f"{root}/app"))
    monkeypatch.delenv(DIRECTORIES)
    message = fatal_of(answered(f"{root}/app/main.k"))
    assert f"cannot read {root}/app/main.k: permission denied" in message
    assert f"below the directories in {DIRECTORIES}" in message


def test_a_module_that_is_missing_or_empty_is_named(root: Path) -> None:
    assert "no such file or directory" in fatal_of(answered(f"{root}/nothing"))
    (root / "empty").mkdir()
    assert "there is no KCL file" in fatal_of(answered(f"{root}/empty"))
    assert "there is no directory /" in fatal_of(
        answered("import a\nitems = []", spec={"dependencies": f'a = {{ path = "{root}/none" }}'})
    )


def test_errors_name_the_file_of_the_module_and_its_line(root: Path) -> None:
    (root / "app/shapes/sizes.k").write_text("sizes = {large = 10}\nwrong = missing\n")
    message = fatal_of(answered(f"{root}/app"))
    assert "shapes/sizes.k:2:9" in message
    assert "\x1b" not in message
    assert str(root) not in message


def test_a_manifest_names_entries_and_settings(root: Path) -> None:
    write(
        root,
        {
            "app/kcl.mod": '[package]\n[profile]\nentries = ["other.k"]\ndisable_none = true\n',
            "app/other.k": 'items = [{metadata.name = "o", none = None, v = option("x")}]\n',
            "app/kcl.yaml": "kcl_options:\n- key: x\n  value: [1]\n",
        },
    )
    assert composed(f"{root}/app")["o"].object == {"metadata": {"name": "o"}, "v": [1]}


def test_settings_files_of_the_input(root: Path) -> None:
    write(
        root,
        {"settings.yaml": "kcl_cli_configs:\n  disable_none: true\nkcl_options:\n- {key: x, value: text}\n"},
    )
    source = 'items = [{metadata.name = "o", none = None, v = option("x")}]\n'
    config = {"settings": [f"{root}/settings.yaml"]}
    assert composed(source, spec={"config": config})["o"].object == {"metadata": {"name": "o"}, "v": "text"}
    message = fatal_of(answered(source, spec={"config": {"settings": [f"{root}/none.yaml"]}}))
    assert f"failed to load '{root}/none.yaml', no such file or directory" in message


def test_vendored_copies_stand_for_dependencies(root: Path) -> None:
    write(
        root,
        {
            "app/kcl.mod": '[package]\n[dependencies]\next-lib = "0.1.0"\n',
            "app/main.k": 'import ext_lib\nitems = [{metadata.name = "v", v = ext_lib.x}]\n',
            "app/vendor/ext-lib_0.1.0/kcl.mod": '[package]\nname = "ext-lib"\n',
            "app/vendor/ext-lib_0.1.0/lib.k": "x = 5\n",
        },
    )
    assert composed(f"{root}/app")["v"].object["v"] == 5


def test_a_module_reads_its_own_data_files_and_no_others(root: Path) -> None:
    write(root, {"app/data/values.json": '{"a": [1]}', "secret.json": "{}"})
    read = 'import file\nimport json\nitems = [{{metadata.name = "f", v = json.decode(file.read("{0}"))}}]\n'
    (root / "app/main.k").write_text(read.format("data/values.json"))
    assert composed(f"{root}/app")["f"].object["v"] == {"a": [1]}
    for outside, problem in (("../secret.json", "escapes module root"), ("none.json", "No such file")):
        (root / "app/main.k").write_text(read.format(outside))
        assert problem in fatal_of(answered(f"{root}/app"))


@pytest.mark.parametrize(
    ("source", "dependencies", "problem"),
    [
        ("github.com/kcl-lang/modules/thing", "", "neither with git nor over HTTP: push the module"),
        ("git::https://git.example.org/a.git", "", "neither with git nor over HTTP"),
        ("https://example.org/main.k", "", "crossply.dev/runtime: container"),
        ("items = []", 'a = { git = "https://github.com/a/b", tag = "v1" }', "which is not fetched"),
        ("items = []", "a = {", "cannot read spec.dependencies"),
        ("items = []", "a = 3", "dependency a must be a version or a table"),
        ("oci://example.org", "", "expected oci://REGISTRY/REPOSITORY?tag=VERSION"),
        ("oci://127.0.0.1:1/modules?tag=1", "", "only where CROSSPLY_KCL_REGISTRIES lists it"),
        ("oci://localhost/modules:1", "", "inside of a private network"),
    ],
)
def test_a_module_that_cannot_be_fetched_gives_a_hint(source: str, dependencies: str, problem: str) -> None:
    assert problem in fatal_of(answered(source, spec={"dependencies": dependencies}))


def test_a_step_without_source_runs_the_one_of_the_environment(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(DIRECTORIES)
    write(root, {"ext/main.k": 'items = [{metadata.name = "d"}]\n'})
    monkeypatch.setenv(DEFAULT_SOURCE, f"{root}/ext")
    assert list(composed("")) == ["d"]


def test_a_directory_is_run_as_a_function(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(DIRECTORIES)
    answer = run_module(Request(OBSERVED), str(root / "app"), str(root / "ext"))
    assert answer.desired is not None
    assert list(answer.desired.resources) == ["b"]
    assert "permission denied" in fatal_of(run_module(Request(OBSERVED), str(root / "app")))
