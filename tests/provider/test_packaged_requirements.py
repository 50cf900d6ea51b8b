"""The package of a provider has everything that the provider imports."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path

import pytest

from crossply.provider.provider_directory import python_packages
from crossply.xpkg.requirements_file import read_requirements
from crossply.xpkg.runtime_requirements import PROVIDER
from crossply.xpkg.wheel_writer import requirement_name

PROVIDERS = sorted((Path(__file__).parents[2] / "providers").iterdir())


def test_serving_a_provider_imports_only_packaged_modules() -> None:
    code = "import sys, crossply.provider.process; print(*{name.split('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    # aiohttp imports the first only where it is installed; the second is in every new environment.
    allowed = {"backports-zstd", "setuptools"}
    assert distributions_of(done.stdout.split()) - closure(PROVIDER.requirements) <= allowed


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda path: path.name)
def test_a_shipped_provider_lists_its_imports(provider: Path) -> None:
    packaged = closure([*PROVIDER.requirements, *read_requirements(str(provider))])
    assert distributions_of(imports_of(provider)) <= packaged


def closure(requirements: Iterable[str]) -> set[str]:
    """The names of distributions, with all that they depend on."""
    names, pending = {"crossply"}, list(requirements)
    while pending:
        name = requirement_name(pending.pop())
        if name not in names:
            names.add(name)
            with suppress(PackageNotFoundError):  # of another version of Python
                pending += [entry for entry in distribution(name).requires or () if "extra ==" not in entry]
    return names


def imports_of(provider: Path) -> Iterator[str]:
    """The top-level modules that the code of a provider imports, also inside of functions."""
    for package in python_packages(str(provider)):
        for file in (provider / package).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.Import):
                    yield from (alias.name.split(".")[0] for alias in node.names)
                elif isinstance(node, ast.ImportFrom) and not node.level:
                    yield (node.module or "").split(".")[0]


def distributions_of(modules: Iterable[str]) -> set[str]:
    known = packages_distributions()
    return {requirement_name(known[module][0]) for module in modules if module in known}
