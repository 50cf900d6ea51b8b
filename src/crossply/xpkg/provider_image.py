"""The package of a provider on the provider kit: its runtime, made without a container engine, and its files.

The base image is any image with Python in it. On it come what the provider depends on, as for
functions, and the provider's own directory, which `python -m crossply.provider` serves as elsewhere.
"""

from __future__ import annotations

import json
import os
import stat
import tempfile
from collections.abc import Iterator

from crossply.values import Object
from crossply.xpkg.failures import BuildFailed
from crossply.xpkg.image import Image, Layer, append
from crossply.xpkg.layer_writer import Entry, write_layer
from crossply.xpkg.package_build import BuiltPackage, pack, read_examples, reading
from crossply.xpkg.package_directory import Directory, File, read_directory
from crossply.xpkg.python_project_image import with_project
from crossply.xpkg.requirements_file import read_requirements
from crossply.xpkg.runtime_requirements import PROVIDER, needs_of, sources_of_directories

ROOT = "opt/provider"
"""Where the image has the provider's directory."""
METADATA_FILE = "crossplane.yaml"
_LEFT_OUT = ("__pycache__",)

_PYPROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "provider-dependencies"
version = "0.0.0"
dependencies = {dependencies}
[project.scripts]
function = "provider_dependencies:nothing"
[tool.hatch.build.targets.wheel]
packages = ["provider_dependencies"]
"""


def build_provider(directory: str, packages: tuple[str, ...], base: Image, python: str = "") -> BuiltPackage:
    """The package of the provider in a directory, whose Python packages are named.

    Where the base image does not say which version of Python it has, `python` does.
    """
    content = pack(_package_files(directory), read_examples(os.path.join(directory, "examples")))
    sources = sources_of_directories(os.path.join(directory, package) for package in packages)
    needs = needs_of(sources, PROVIDER)
    with tempfile.TemporaryDirectory(prefix="crossply-") as scratch:
        runtime = with_project(base, _dependencies(directory, scratch), python, needs)
    return BuiltPackage(content.package, content.onto(with_provider(runtime, directory, packages)))


def _package_files(directory: str) -> Directory:
    """The metadata of the package, and all that it brings."""
    with reading(), open(os.path.join(directory, METADATA_FILE), "rb") as file:
        meta = File(METADATA_FILE, file.read())
        brought = read_directory(os.path.join(directory, "package"))
    return Directory((meta, *brought.files))


def with_provider(base: Image, directory: str, packages: tuple[str, ...]) -> Image:
    """An image that has a provider's dependencies, with the provider itself in it, ready to run."""
    written = write_layer(list(_entries(directory, packages)))
    image = append(base, Layer(written.blob), written.diff_id)
    return image._replace(config={**image.config, "config": _runnable(image.inner)})


def _dependencies(directory: str, scratch: str) -> str:
    """A project that has nothing but the dependencies of the provider."""
    dependencies = ["crossply", *read_requirements(directory)]
    package = os.path.join(scratch, "provider_dependencies")
    os.mkdir(package)
    for path, text in (
        (os.path.join(scratch, "pyproject.toml"), _PYPROJECT.format(dependencies=json.dumps(dependencies))),
        (os.path.join(package, "__init__.py"), ""),
    ):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return scratch


def _entries(directory: str, packages: tuple[str, ...]) -> Iterator[Entry]:
    for parent in ("opt", ROOT):
        yield Entry(f"{parent}/", mode=0o755, is_directory=True)
    for name in sorted((METADATA_FILE, *packages)):
        yield from _tree(os.path.join(directory, name), f"{ROOT}/{name}")


def _tree(path: str, name: str) -> Iterator[Entry]:
    """A file, or a directory with all in it, in order; links and other special files are refused."""
    mode = os.lstat(path).st_mode
    if stat.S_ISDIR(mode):
        yield Entry(f"{name}/", mode=0o755, is_directory=True)
        for inner in sorted(os.listdir(path)):
            if inner not in _LEFT_OUT and inner[0] != ".":
                yield from _tree(os.path.join(path, inner), f"{name}/{inner}")
    elif stat.S_ISREG(mode):
        with open(path, "rb") as file:
            yield Entry(name, file.read(), 0o755 if mode & 0o111 else 0o644)
    else:
        raise BuildFailed(
            f"{path} is not a regular file", hint="a provider's package has files and directories"
        )


def _runnable(inner: Object) -> Object:
    changed = {
        "Entrypoint": ["python3", "-P", "-m", "crossply.provider", f"/{ROOT}"],
        "ExposedPorts": {"8080/tcp": {}},
        "WorkingDir": f"/{ROOT}",
    }
    return {**inner, **changed}
