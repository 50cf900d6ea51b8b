"""The files of a new provider on the provider kit: one kind, its test, an example and package metadata."""

from __future__ import annotations

from crossply.version import __version__


def python_package_of(name: str) -> str:
    """The name of a provider's Python package: provider-tickets → tickets_provider."""
    base = name.removeprefix("provider-").replace("-", "_")
    return f"_{base}_provider" if base[:1].isdigit() else f"{base}_provider"


def provider_files(name: str, group: str) -> dict[str, str]:
    """The files of a provider by their paths in its directory; its CRDs are generated from them."""
    words = {"name": name, "group": group, "package": python_package_of(name), "version": __version__}

    def filled(text: str) -> str:
        for key, value in words.items():
            text = text.replace(f"<{key}>", value)
        return text

    return {filled(path): filled(text) for path, text in _FILES.items()}


_README = """\
# <name>

A Crossplane provider in Python. Its one kind is an example: a `Note` is a text file.

| what | where |
|---|---|
| how the external system is reached | `<package>/config.py` |
| a kind: its fields, and how it is observed, created, updated and deleted | `<package>/note.py` |
| that it works, also when it crashes at any point | `tests/test_note.py` |
| its CRDs, generated from the classes | `package/crds/` |
| what it imports beside Crossply | `requirements.txt` |

    pytest                          # in the environment that has Crossply
    crossply provider run           # install the CRDs and run the provider; it restarts when you save a file
    kubectl apply -f examples/
    kubectl get managed -A
    crossply provider build         # a package for Crossplane and Crossply
    crossply provider push -f <name>.xpkg registry.example.org/<name>:v0.1.0

In `crossply up --allow-local-functions=DIR`, a Provider with the annotation `crossply.dev/directory: DIR`
runs the provider in a directory DIR without a package.
"""

_META = """\
apiVersion: meta.pkg.crossplane.io/v1
kind: Provider
metadata:
  name: <name>
  annotations:
    meta.crossplane.io/description: A provider in Python.
spec:
  crossplane:
    version: ">=v2.0.0"
"""

_CONFIG = '''\
"""How the external system is reached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from crossply.provider import Doc, provider_config

GROUP = "<group>"


@provider_config(group=GROUP)
@dataclass
class ProviderConfig:
    """Where notes are kept."""

    directory: Annotated[str, Doc("The directory of the notes.")]
'''

_KIND = '''\
"""The kind Note."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from crossply.provider import ConnectionDetails, Context, Doc, ExternalError, Observation, managed

from .config import GROUP, ProviderConfig


@managed(group=GROUP, kind="Note", config=ProviderConfig)
class Note:
    """A text file."""

    @dataclass
    class Parameters:  # spec.forProvider
        text: Annotated[str, Doc("What the note says.")]

    @dataclass
    class Observed:  # status.atProvider
        path: str
        size: int

    def connect(self, config: ProviderConfig) -> Path:
        """Return what the methods below get as `ctx.client`."""
        return Path(config.directory)

    def observe(self, ctx: Context, params: Parameters) -> Observation | None:
        """Return the state of the external resource, or None where it does not exist."""
        file = _file(ctx)
        if not file.exists():
            return None
        text = file.read_text()
        return Observation(
            observed=Note.Observed(path=str(file), size=len(text)),
            # Compared with the parameters: where they differ, `update` is called.
            actual={"text": text},
            connection={"path": str(file)},
        )

    def create(self, ctx: Context, params: Parameters) -> ConnectionDetails | None:
        """Create the external resource by its external name, so that it is found after a crash."""
        ctx.client.mkdir(parents=True, exist_ok=True)
        _file(ctx).write_text(params.text)
        return None

    def update(self, ctx: Context, params: Parameters) -> ConnectionDetails | None:
        """Bring the external resource in line with the parameters."""
        _file(ctx).write_text(params.text)
        return None

    def delete(self, ctx: Context, params: Parameters) -> None:
        """Delete the external resource. It may be gone already."""
        _file(ctx).unlink(missing_ok=True)


def _file(ctx: Context) -> Path:
    if "/" in ctx.external_name:
        raise ExternalError(
            f"{ctx.external_name!r} is not the name of a file",
            hint="change the annotation crossplane.io/external-name",
        )
    directory: Path = ctx.client
    return directory / f"{ctx.external_name}.txt"
'''

_TEST = '''\
"""The kind Note, without a control plane."""

from __future__ import annotations

import tempfile
from pathlib import Path

from <package>.note import Note
from crossply.provider.try_out import try_out


def test_a_note_is_created_updated_and_deleted_whatever_crashes(tmp_path: Path) -> None:
    report = try_out(
        Note,
        {"text": "Hello"},
        changes=[{"text": "Goodbye"}],
        client=lambda: Path(tempfile.mkdtemp(dir=tmp_path)),
        existing=lambda directory: [file.stem for file in directory.iterdir()],
    )
    report.check()


def test_the_content_of_a_note_is_observed(tmp_path: Path) -> None:
    report = try_out(Note, {"text": "Hello"}, client=lambda: tmp_path, crashes=False, delete=False)
    assert report.status["atProvider"] == {"path": str(tmp_path / "example.txt"), "size": 5}
    assert (tmp_path / "example.txt").read_text() == "Hello"
'''

_EXAMPLE_CONFIG = """\
apiVersion: <group>/v1alpha1
kind: ClusterProviderConfig
metadata:
  name: default
spec:
  directory: /tmp/<name>
"""

_EXAMPLE = """\
apiVersion: <group>/v1alpha1
kind: Note
metadata:
  name: hello
  namespace: default
spec:
  forProvider:
    text: Hello, World!
"""

_FILES = {
    "README.md": _README,
    ".gitignore": ".crossply/\n*.xpkg\n__pycache__/\n.venv/\n.pytest_cache/\n",
    "crossplane.yaml": _META,
    "requirements.txt": "# What the provider imports beside crossply, one package a line.\n",
    "conftest.py": '"""Lets pytest import the provider from this directory."""\n',
    "<package>/__init__.py": '"""The provider <name>."""\n',
    "<package>/config.py": _CONFIG,
    "<package>/note.py": _KIND,
    "tests/test_note.py": _TEST,
    "examples/config.yaml": _EXAMPLE_CONFIG,
    "examples/note.yaml": _EXAMPLE,
}
