"""Start-up time is a feature: what `render` with built-in functions may load, counted and not timed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.cli.render_bench import FILES, Bench, composition, config_map_step, function, step

# fmt: off
TOO_HEAVY = [
    "grpc", "google.protobuf", "aiohttp", "rich", "asyncio", "click", "dataclasses", "msgspec", "pathlib",
    "logging", "jsonschema", "json", "inspect", "tempfile", "subprocess", "socket", "threading", "argparse",
    "watchfiles", "re2", "celpy", "uuid", "decimal", "http", "urllib", "email", "importlib.metadata",
    "kcl_lib",
]
# fmt: on
MOST_MODULES = 122
"""A little above what a small rendering loads today; raise it knowingly."""

RUN = """
import sys
before = set(sys.modules)
from crossply.cli.main import main
code = main(sys.argv[1:])
loaded = sorted(set(sys.modules) - before)
sys.stderr.write(" ".join(loaded))
sys.exit(code)
"""


@pytest.fixture(scope="module")
def loaded(tmp_path_factory) -> list[str]:
    bench = Bench(tmp_path_factory.mktemp("render"))
    bench.write(
        "functions.yaml",
        function(),
        function("ready", "example.com/crossplane-contrib/function-auto-ready:v1"),
    )
    bench.write("composition.yaml", composition(config_map_step(), step("ready", "ready")))
    done = subprocess.run(
        [sys.executable, "-c", RUN, "render", *FILES], cwd=bench.folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "kind: ConfigMap" in done.stdout
    return done.stderr.split()


@pytest.mark.parametrize("module", TOO_HEAVY)
def test_rendering_with_built_in_functions_does_not_load(loaded: list[str], module: str) -> None:
    assert [name for name in loaded if name == module or name.startswith(f"{module}.")] == []


def test_rendering_loads_few_modules_of_ours(loaded: list[str]) -> None:
    crossply_modules = [name for name in loaded if name.startswith("crossply")]
    assert 20 < len(crossply_modules) <= MOST_MODULES, "\n".join(crossply_modules)


def test_only_the_functions_that_are_called_are_loaded(loaded: list[str]) -> None:
    assert "crossply.functions.builtin.auto_ready.function" in loaded
    assert "crossply.functions.builtin.environment_configs.function" not in loaded
    assert "crossply.functions.builtin.extra_resources" not in loaded
    assert "crossply.functions.builtin.kcl" not in loaded


NOT_FOR_INLINE_KCL = (
    *("kcl_lib", "google.protobuf", "aiohttp", "asyncio", "tomllib", "crossply.xpkg"),
    *("orjson", "dataclasses", "inspect", "subprocess", "uuid"),
    *("crossply.functions.builtin.kcl.sources", "crossply.functions.builtin.kcl.registry_modules"),
)
"""The core of KCL is loaded by the processes that run programs only."""


def test_rendering_with_kcl_loads_neither_its_core_nor_the_imports_of_modules(tmp_path) -> None:
    bench = Bench(tmp_path)
    bench.write("functions.yaml", function("kcl", "example.com/crossplane-contrib/function-kcl:v1"))
    input_ = {"spec": {"source": 'items = [{apiVersion = "v1", kind = "ConfigMap", metadata.name = "a"}]'}}
    bench.write("composition.yaml", composition(step("kcl", "kcl", input=input_)))
    done = subprocess.run(
        [sys.executable, "-c", RUN, "render", *FILES], cwd=bench.folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "kind: ConfigMap" in done.stdout
    loaded = done.stderr.split()
    assert "crossply.functions.builtin.kcl.function" in loaded
    heavy = [
        name for name in loaded if name in NOT_FOR_INLINE_KCL or name.split(".")[0] in NOT_FOR_INLINE_KCL
    ]
    assert heavy == []
