"""A folder with a Composition and suites for it, and the command that runs them."""

from __future__ import annotations

import pathlib
from typing import Any, NamedTuple

import pytest
import yaml

from crossply.cli.main import main

COMPOSITION = """\
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata:
  name: apps
spec:
  compositeTypeRef: {apiVersion: example.org/v1, kind: App}
  mode: Pipeline
  pipeline:
  - step: guard
    functionRef: {name: function-go-templating}
    input:
      apiVersion: gotemplating.fn.crossplane.io/v1beta1
      kind: GoTemplate
      source: Inline
      inline:
        template: |
          {{ if not .observed.composite.resource.spec.cdn }}{{ fail "spec.cdn is missing" }}{{ end }}
  - step: compose
    functionRef: {name: function-patch-and-transform}
    input:
      apiVersion: pt.fn.crossplane.io/v1beta1
      kind: Resources
      resources:
      - name: bucket
        base:
          apiVersion: example.org/v1
          kind: Bucket
          spec: {region: eu, ports: [{name: http, port: 80}, {name: tls, port: 443}], zones: [a, b]}
        patches:
        - {fromFieldPath: spec.size, toFieldPath: spec.size}
        - {type: ToCompositeFieldPath, fromFieldPath: status.url, toFieldPath: status.url}
      - name: cdn
        base: {apiVersion: example.org/v1, kind: Cdn}
        patches:
        - {fromFieldPath: spec.cdn, toFieldPath: spec.plan}
  - step: ready
    functionRef: {name: function-auto-ready}
"""
XR = {
    "apiVersion": "example.org/v1",
    "kind": "App",
    "metadata": {"name": "shop", "namespace": "team"},
    "spec": {"size": 3, "cdn": "small"},
}


class SuiteRun(NamedTuple):
    code: int
    out: str
    err: str


class Folder:
    """Where suites lie beside a Composition."""

    def __init__(self, path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.path = path
        self._capsys = capsys
        self.write("composition.yaml", COMPOSITION)

    def write(self, name: str, content: str | dict[str, Any]) -> None:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else yaml.safe_dump(content, sort_keys=False))

    def suite(self, *cases: dict[str, Any], file: str = "app_test.yaml", **spec: Any) -> None:
        self.write(file, suite(*cases, **spec))

    def run(self, *words: str) -> SuiteRun:
        self._capsys.readouterr()
        code = main(["test", *words])
        captured = self._capsys.readouterr()
        assert "Traceback" not in captured.err
        assert "internal error" not in captured.err
        return SuiteRun(code, captured.out, captured.err)

    def check(self, **expect: Any) -> SuiteRun:
        """Run one case that expects this."""
        self.suite({"name": "it", "expect": expect})
        return self.run()


def suite(*cases: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "crossply.dev/v1alpha1",
        "kind": "CompositionTest",
        "metadata": {"name": "apps"},
        "spec": {"xr": XR, **spec, "cases": list(cases)},
    }
