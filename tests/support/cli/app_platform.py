"""A small platform of files: an App composes a ConfigMap."""

from __future__ import annotations

from pathlib import Path

DEFINITION = """\
apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata: {name: apps.acme.test}
spec:
  group: acme.test
  scope: Namespaced
  names: {kind: App, plural: apps}
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
              color: {type: string}
"""
COMPOSITION = """\
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: apps}
spec:
  compositeTypeRef: {apiVersion: acme.test/v1, kind: App}
  mode: Pipeline
  pipeline:
  - step: compose
    functionRef: {name: function-patch-and-transform}
    input:
      apiVersion: pt.fn.crossplane.io/v1beta1
      kind: Resources
      resources:
      - name: settings
        base:
          apiVersion: v1
          kind: ConfigMap
          data: {region: eu}
        patches:
        - {fromFieldPath: spec.color, toFieldPath: data.color}
        readinessChecks: [{type: None}]
"""
FUNCTION = """\
apiVersion: pkg.crossplane.io/v1
kind: Function
metadata: {name: function-patch-and-transform}
spec: {package: "xpkg.crossplane.io/crossplane-contrib/function-patch-and-transform:v0.9.0"}
"""
XR = """\
apiVersion: acme.test/v1
kind: App
metadata: {name: shop, namespace: default}
spec: {color: red}
"""
SUITE = """\
apiVersion: crossply.dev/v1alpha1
kind: CompositionTest
metadata: {name: apps}
"""
PROJECT = """\
apiVersion: dev.crossplane.io/v1alpha1
kind: Project
metadata: {name: platform}
"""


def write_platform(folder: Path) -> None:
    """The XR comes first by name, so that only sorting can put the definition before it."""
    platform = folder / "platform"
    platform.mkdir(parents=True)
    files = {
        "definition": DEFINITION,
        "composition": COMPOSITION,
        "functions": FUNCTION,
        "suite": SUITE,
        "project": PROJECT,
    }
    for name, text in files.items():
        (platform / f"{name}.yaml").write_text(text)
    (folder / "app.yaml").write_text(XR)
