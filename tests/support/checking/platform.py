"""A small platform repository that is in order, and its files with something wrong in one place."""

from __future__ import annotations

from pathlib import Path

from crossply.checking.check import CheckOptions, Report, check
from crossply.checking.finding import Finding

PROJECT = """\
apiVersion: meta.dev.upbound.io/v1alpha1
kind: Project
metadata:
  name: lamps
spec:
  repository: registry.example.org/team/lamps
"""
CONFIGURATION = """\
apiVersion: meta.pkg.crossplane.io/v1
kind: Configuration
metadata:
  name: lamps
"""
DEFINITION = """\
apiVersion: apiextensions.crossplane.io/v1
kind: CompositeResourceDefinition
metadata:
  name: xlamps.example.org
spec:
  group: example.org
  names:
    kind: XLamp
    plural: xlamps
  claimNames:
    kind: Lamp
    plural: lamps
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
            required: [parameters]
            properties:
              parameters:
                type: object
                required: [brightness]
                properties:
                  brightness:
                    type: integer
                  colours:
                    type: array
                    items:
                      type: object
                      properties:
                        name:
                          type: string
                  labels:
                    type: object
                    additionalProperties:
                      type: string
          status:
            type: object
            properties:
              address:
                type: string
"""
COMPOSITION = """\
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata:
  name: lamps
spec:
  compositeTypeRef:
    apiVersion: example.org/v1
    kind: XLamp
  mode: Pipeline
  pipeline:
  - step: compose
    functionRef:
      name: function-patch-and-transform
    input:
      apiVersion: pt.fn.crossplane.io/v1beta1
      kind: Resources
      resources:
      - name: settings
        base:
          apiVersion: v1
          kind: ConfigMap
          metadata:
            namespace: default
        patches:
        - fromFieldPath: spec.parameters.brightness
          toFieldPath: data.brightness
          transforms:
          - type: convert
            convert:
              toType: string
        - type: ToCompositeFieldPath
          fromFieldPath: metadata.name
          toFieldPath: status.address
        - fromFieldPath: spec.parameters.labels
          toFieldPath: metadata.labels
  - step: ready
    functionRef:
      name: function-auto-ready
"""
CLAIM = """\
apiVersion: example.org/v1
kind: Lamp
metadata:
  name: desk
  namespace: office
spec:
  parameters:
    brightness: 7
"""

FILES = {
    "upbound.yaml": PROJECT,
    "apis/lamps/definition.yaml": DEFINITION,
    "apis/lamps/composition.yaml": COMPOSITION,
    "examples/lamp.yaml": CLAIM,
}


class Platform:
    """The files of a repository in a directory."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name, text in FILES.items():
            self.write(name, text)

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def replace(self, name: str, old: str, new: str) -> None:
        """Replace a text that is there once."""
        text = (self.root / name).read_text()
        assert text.count(old) == 1, old
        self.write(name, text.replace(old, new))

    def as_package(self) -> None:
        """Make the project a Configuration package."""
        (self.root / "upbound.yaml").unlink()
        self.write("crossplane.yaml", CONFIGURATION)

    def report(self, *paths: str) -> Report:
        options = CheckOptions(str(self.root / "cache"))
        return check([str(self.root / path) for path in paths] or [str(self.root)], options)

    def only_finding(self) -> Finding:
        (finding,) = self.report().findings
        return finding._replace(file=str(Path(finding.file).relative_to(self.root)))
