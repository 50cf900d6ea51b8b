"""The files of a new function in a project: Go templates, or Python or KCL with models of its kinds."""

from __future__ import annotations

from typing import NamedTuple

from crossply.models.python_names import literal, module_name
from crossply.models.structural_schema_classes import KindModel
from crossply.scaffold.function_package import function_files
from crossply.values import Object

_SHARED = (".gitignore", "conftest.py", "pyproject.toml", "function/__init__.py")
_UNKNOWN: Object = {
    "apiVersion": "example.org/v1",
    "kind": "Example",
    "metadata": {"name": "example", "namespace": "default"},
    "spec": {},
}


class Composed(NamedTuple):
    """The kind of composite resource that a function is for: its model, and an example."""

    kind: KindModel
    example: Object


def python_files(name: str, composed: Composed | None, models: dict[str, str]) -> dict[str, str]:
    """The files of a function in Python; `models` are those of the package with its models."""
    xr = composed.example if composed else _UNKNOWN
    words = {
        "name": name,
        "module": name.replace("-", "_"),
        "import": _import(composed.kind) if composed else "",
        "read": f"xr = {composed.kind.models[0].name}.from_dict(req.xr)\n    " if composed else "",
        "about": "{xr.kind}" if composed else "{req.xr['kind']}",
        "example": "".join(f"    {literal(key)}: {literal(value)},\n" for key, value in xr.items()),
        "description": f"{xr['kind']} {xr['metadata']['name']}",
    }
    shared = {path: text for path, text in function_files(name).items() if path in _SHARED}
    written = {_filled(path, words): _filled(text, words) for path, text in _PYTHON.items()}
    return shared | written | {f"function/models/{path}": text for path, text in models.items()}


def template_files(schemas: str) -> dict[str, str]:
    """The files of a function in Go templates; `schemas` is where the index of JSON Schemas is, if any."""
    modeline = f"# yaml-language-server: $schema={schemas}\n" if schemas else ""
    return {"00-prelude.yaml.gotmpl": _PRELUDE, "01-compose.yaml.gotmpl": modeline + _COMPOSE}


def kcl_files(name: str, package: str, kind: str) -> dict[str, str]:
    """The files of a function in KCL for a kind, which has a model in a package; both empty where unknown."""
    words = {
        "name": name,
        "import": f"import models.{package} as api\n\n" if package else "",
        "xr": f'api.{kind}{{**option("params").oxr}}' if package else 'option("params").oxr',
    }
    return {path: _filled(text, words) for path, text in _KCL.items()}


def _import(kind: KindModel) -> str:
    module = module_name(kind.group, kind.version)
    return f"\nfrom function.models.{module} import {kind.models[0].name}\n"


def _filled(text: str, words: dict[str, str]) -> str:
    for key, value in words.items():
        text = text.replace(f"<{key}>", value)
    return text


_README = """\
# <name>

A composition function of this project, in Python.

| what | where |
|---|---|
| what it does | `function/main.py` |
| that it does | `tests/test_<module>.py` |
| models of the project's kinds | `function/models/`, if the project had any |

    pip install pytest                          # in the environment that has Crossply
    pytest
    crossply function run --insecure --reload function/main.py      # serve it, and reload it on changes
    cd ../..
    crossply test                               # the tests of the project
    crossply project build                      # the packages of the project
"""

_MAIN = '''\
"""What <name> does."""

from __future__ import annotations

import sys

from crossply.sdk import Request, Response, function
<import>

@function
def compose(req: Request, rsp: Response) -> None:
    """Compose a ConfigMap with the kind and name of the composite resource."""
    <read>rsp.desired["about"] = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"namespace": req.xr.at("metadata.namespace", "default")},
        "data": {"about": f"<about> {req.xr.at('metadata.name')}"},
    }
    # A ConfigMap has no conditions: it is ready as soon as it exists.
    rsp.desired["about"].ready = "about" in req.observed


if __name__ == "__main__":
    sys.exit(compose())
'''

_TEST = '''\
"""The function alone."""

from __future__ import annotations

from typing import Any

from function.main import compose

XR: dict[str, Any] = {
<example>}


def test_it_names_the_composite_resource() -> None:
    rsp = compose.try_out(XR)
    assert rsp.desired["about"]["data"] == {"about": "<description>"}
    assert not rsp.desired["about"].ready


def test_it_is_ready_when_it_exists() -> None:
    there = {"about": {"apiVersion": "v1", "kind": "ConfigMap"}}
    assert compose.try_out(XR, observed=there).desired["about"].ready


def test_it_keeps_what_other_steps_want() -> None:
    rsp = compose.try_out(XR, desired={"other": {"apiVersion": "v1", "kind": "Secret"}})
    assert set(rsp.desired) == {"about", "other"}
'''

_PYTHON = {
    "README.md": _README,
    "function/main.py": _MAIN,
    "tests/test_<module>.py": _TEST,
}

_PRELUDE = """\
{{- /* Read once, for all templates: files are put together in the order of their names. */ -}}
{{- $xr := .observed.composite.resource -}}
{{- $name := $xr.metadata.name -}}
{{- $namespace := dig "metadata" "namespace" "default" $xr -}}
"""

_COMPOSE = """\
---
apiVersion: v1
kind: ConfigMap
metadata:
  namespace: {{ $namespace }}
  annotations:
    {{ setResourceNameAnnotation "about" }}
data:
  about: {{ printf "%s %s" $xr.kind $name | quote }}
"""

_KCL_MODULE = """\
[package]
name = "<name>"
version = "0.0.1"

[dependencies]
models = { path = "./model" }
"""

_KCL_MAIN = """\
<import>_xr = <xr>
_observed = option("params").ocds

_named = lambda name: str, ready: bool -> any {
    {
        annotations = {
            "krm.kcl.dev/composition-resource-name" = name
            "krm.kcl.dev/ready" = "True" if ready else "False"
        }
    }
}

items = [
    {
        apiVersion = "v1"
        kind = "ConfigMap"
        # A ConfigMap has no conditions: it is ready as soon as it exists.
        metadata = _named("about", "about" in _observed)
        data.about = "{} {}".format(_xr.kind, _xr.metadata.name)
    }
]
"""

_KCL = {"kcl.mod": _KCL_MODULE, "main.k": _KCL_MAIN}
