"""The files of a new function: Python on the SDK, a test, an example and package metadata."""

from __future__ import annotations

from crossply.version import __version__


def function_files(name: str) -> dict[str, str]:
    """The files of a function's project by their paths in it."""
    words = {"name": name, "version": __version__}

    def filled(text: str) -> str:
        for key, value in words.items():
            text = text.replace(f"<{key}>", value)
        return text

    return {path: filled(text) for path, text in _FILES.items()}


_README = """\
# <name>

A composition function in Python.

| what | where |
|---|---|
| what it does | `function/main.py` |
| that it does | `tests/test_function.py`, `example/composition_test.yaml` |
| how it is used | `example/` |
| what makes a package of it | `package/crossplane.yaml`, `pyproject.toml` |

    pip install pytest              # in the environment that has Crossply
    pytest                          # the function alone, and in a pipeline
    crossply test                   # the function as a process, as in a control plane
    crossply render example/xr.yaml example/composition.yaml example/functions.yaml
    crossply xpkg build -f package --python-project=. --embed-runtime-image=docker.io/library/python:3.12-slim
"""

_PYPROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "<name>"
version = "0.1.0"
description = "A composition function."
requires-python = ">=3.11"
dependencies = ["crossply>=<version>"]

[project.optional-dependencies]
test = ["pytest"]

# What runs in the package.
[project.scripts]
function = "function.main:compose"

[tool.hatch.build.targets.wheel]
packages = ["function"]

[tool.pytest.ini_options]
testpaths = ["tests"]
"""

_CONFTEST = '''\
"""Lets pytest run in this directory and in those above it."""

from __future__ import annotations

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def pytest_collectstart() -> None:
    """Import `function` from here, also after that of another function of the same project."""
    loaded = sys.modules.get("function")
    if loaded is None or os.path.dirname(os.path.dirname(loaded.__file__ or "")) != HERE:
        for name in [name for name in sys.modules if name.partition(".")[0] == "function"]:
            del sys.modules[name]
    sys.path[:] = [HERE, *(path for path in sys.path if path != HERE)]
'''

_MAIN = '''\
"""What <name> does."""

from __future__ import annotations

import sys

from crossply.sdk import Request, Response, function


@function
def compose(req: Request, rsp: Response) -> None:
    """Compose a ConfigMap with a greeting for the name in the composite resource."""
    greeting = req.input.get("greeting", "Hello")
    text = f"{greeting}, {req.xr.at('spec.name', 'World')}!"
    rsp.desired["greeting"] = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"text": text}}
    # A ConfigMap has no conditions: it is ready as soon as it exists.
    rsp.desired["greeting"].ready = "greeting" in req.observed
    rsp.xr.status["greeting"] = text


if __name__ == "__main__":
    sys.exit(compose())
'''

_TEST = '''\
"""The function alone, and in the pipeline of the example."""

from __future__ import annotations

from crossply.pytest_plugin.rendering import Renderer

from function.main import compose

XR = {
    "apiVersion": "example.org/v1",
    "kind": "Greeting",
    "metadata": {"name": "hello", "namespace": "default"},
    "spec": {"name": "Ada"},
}


def test_it_greets() -> None:
    rsp = compose.try_out(XR)
    assert rsp.desired["greeting"]["data"] == {"text": "Hello, Ada!"}
    assert rsp.xr.status == {"greeting": "Hello, Ada!"}


def test_the_input_of_the_step_sets_the_greeting() -> None:
    rsp = compose.try_out(XR, input={"greeting": "Welcome"})
    assert rsp.desired["greeting"]["data"]["text"] == "Welcome, Ada!"


def test_it_keeps_what_other_steps_want() -> None:
    rsp = compose.try_out(XR, desired={"other": {"apiVersion": "v1", "kind": "Secret"}})
    assert set(rsp.desired) == {"greeting", "other"}


def test_the_example_becomes_ready(render: Renderer) -> None:
    first = render(XR, "../example/composition.yaml", {"<name>": compose})
    assert first.conditions["Ready"]["status"] == "False"
    assert first.again().conditions["Ready"]["status"] == "True"
'''

_PACKAGE = """\
apiVersion: meta.pkg.crossplane.io/v1
kind: Function
metadata:
  name: <name>
  annotations:
    meta.crossplane.io/description: A composition function.
spec:
  crossplane:
    version: ">=v2.0.0"
"""

_XR = """\
apiVersion: example.org/v1
kind: Greeting
metadata:
  name: hello
  namespace: default
spec:
  name: Ada
"""

_DEFINITION = """\
apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata:
  name: greetings.example.org
spec:
  group: example.org
  names:
    kind: Greeting
    plural: greetings
  scope: Namespaced
  versions:
  - name: v1
    served: true
    referenceable: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              name:
                description: Who is greeted.
                type: string
                default: World
          status:
            type: object
            properties:
              greeting:
                type: string
"""

_COMPOSITION = """\
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata:
  name: greetings
spec:
  compositeTypeRef:
    apiVersion: example.org/v1
    kind: Greeting
  mode: Pipeline
  pipeline:
  - step: greet
    functionRef:
      name: <name>
    input:
      apiVersion: example.org/v1
      kind: Input
      greeting: Hello
"""

_FUNCTIONS = """\
apiVersion: pkg.crossplane.io/v1
kind: Function
metadata:
  name: <name>
  annotations:
    # While it is developed, it runs as a process, from the directory of the project.
    crossply.dev/runtime: process
    crossply.dev/command: python -m function.main --insecure --address {address}
spec:
  package: registry.example.org/<name>:v0.1.0
"""

_SUITE = """\
apiVersion: crossply.dev/v1alpha1
kind: CompositionTest
metadata:
  name: greetings
spec:
  xr: xr.yaml
  xrd: definition.yaml
  cases:
  - name: greets the person in spec.name
    rounds:
    - expect:
        resources:
        - name: greeting
          ready: false
          object:
            kind: ConfigMap
            data:
              text: Hello, Ada!
    - expect:
        unchanged: true
        conditions:
        - type: Ready
          status: "True"

  - name: greets the World by default
    xrPatch:
      spec:
        name: null
    expect:
      composite:
        status:
          greeting: Hello, World!
"""

_FILES = {
    "README.md": _README,
    ".gitignore": "*.xpkg\n.crossply/\n__pycache__/\n*.egg-info/\n.venv/\n",
    "conftest.py": _CONFTEST,
    "pyproject.toml": _PYPROJECT,
    "function/__init__.py": '"""The function <name>."""\n',
    "function/main.py": _MAIN,
    "tests/test_function.py": _TEST,
    "package/crossplane.yaml": _PACKAGE,
    "example/definition.yaml": _DEFINITION,
    "example/xr.yaml": _XR,
    "example/composition.yaml": _COMPOSITION,
    "example/functions.yaml": _FUNCTIONS,
    "example/composition_test.yaml": _SUITE,
}
