"""The files of a new project: an API, a Composition, a test and package metadata."""

from __future__ import annotations

from crossply.convert.plural import plural_of
from crossply.scaffold.composition import functions_text


def project_files(name: str, group: str, kind: str) -> dict[str, str]:
    """The files of a project by their paths in it."""
    plural = plural_of(kind)
    words = {"name": name, "group": group, "kind": kind, "plural": plural, "one": kind.lower()}
    return {
        "README.md": _README.format(**words),
        ".gitignore": "*.xpkg\n.crossply/\n",
        "crossplane-project.yaml": _PROJECT.format(**words),
        "functions.yaml": functions_text(),
        "apis/crossplane.yaml": _PACKAGE.format(**words),
        f"apis/{plural}/definition.yaml": _DEFINITION.format(**words),
        f"apis/{plural}/composition.yaml": _COMPOSITION.format(**words),
        f"examples/{kind.lower()}.yaml": _EXAMPLE.format(**words),
        f"tests/{plural}_test.yaml": _TEST.format(**words),
    }


_README = """\
# {name}

An API of our own, `{kind}`, and what it becomes.

| what | where |
|---|---|
| what a {kind} is | `apis/{plural}/definition.yaml` |
| what it becomes | `apis/{plural}/composition.yaml` |
| one of them | `examples/{one}.yaml` |
| that it does | `tests/{plural}_test.yaml` |

    crossply test                                        # all tests
    crossply validate apis/{plural} examples                    # examples fit their definitions
    crossply render examples/{one}.yaml apis/{plural}/composition.yaml functions.yaml
    crossply xpkg build -f apis -e examples              # a package of it
"""

_PROJECT = """\
apiVersion: dev.crossplane.io/v1alpha1
kind: Project
metadata:
  name: {name}
spec:
  repository: registry.example.org/{name}
  dependencies:
  - type: xpkg
    xpkg:
      apiVersion: pkg.crossplane.io/v1
      kind: Function
      package: xpkg.crossplane.io/crossplane-contrib/function-patch-and-transform
      version: ">=v0.9.0"
  - type: xpkg
    xpkg:
      apiVersion: pkg.crossplane.io/v1
      kind: Function
      package: xpkg.crossplane.io/crossplane-contrib/function-auto-ready
      version: ">=v0.5.0"
"""

_PACKAGE = """\
apiVersion: meta.pkg.crossplane.io/v1
kind: Configuration
metadata:
  name: {name}
spec:
  dependsOn:
  - apiVersion: pkg.crossplane.io/v1
    kind: Function
    package: xpkg.crossplane.io/crossplane-contrib/function-patch-and-transform
    version: ">=v0.9.0"
  - apiVersion: pkg.crossplane.io/v1
    kind: Function
    package: xpkg.crossplane.io/crossplane-contrib/function-auto-ready
    version: ">=v0.5.0"
"""

_DEFINITION = """\
apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata:
  name: {plural}.{group}
  annotations:
    # The Ready condition of a {kind} says why it is not ready.
    crossply.dev/show-cause: "true"
spec:
  group: {group}
  names:
    kind: {kind}
    plural: {plural}
  scope: Namespaced
  versions:
  - name: v1alpha1
    served: true
    referenceable: true
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [image]
            properties:
              image:
                description: The image to run.
                type: string
              replicas:
                description: How many of it run at the same time.
                type: integer
                minimum: 1
                default: 2
          status:
            type: object
            properties:
              replicas:
                description: How many of it run.
                type: integer
"""

_COMPOSITION = """\
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata:
  name: {plural}.{group}
spec:
  compositeTypeRef:
    apiVersion: {group}/v1alpha1
    kind: {kind}
  mode: Pipeline
  pipeline:
  - step: compose
    functionRef:
      name: function-patch-and-transform
    input:
      apiVersion: pt.fn.crossplane.io/v1beta1
      kind: Resources
      resources:
      - name: deployment
        base:
          apiVersion: apps/v1
          kind: Deployment
          spec:
            selector:
              matchLabels:
                app: ""
            template:
              metadata:
                labels:
                  app: ""
              spec:
                containers:
                - name: main
        patches:
        - fromFieldPath: metadata.name
          toFieldPath: spec.selector.matchLabels.app
        - fromFieldPath: metadata.name
          toFieldPath: spec.template.metadata.labels.app
        - fromFieldPath: spec.image
          toFieldPath: spec.template.spec.containers[0].image
        - fromFieldPath: spec.replicas
          toFieldPath: spec.replicas
        - type: ToCompositeFieldPath
          fromFieldPath: status.availableReplicas
          toFieldPath: status.replicas
  - step: ready
    functionRef:
      name: function-auto-ready
"""

_EXAMPLE = """\
apiVersion: {group}/v1alpha1
kind: {kind}
metadata:
  name: hello
  namespace: default
spec:
  image: registry.example.org/hello:1.0
"""

_TEST = """\
apiVersion: crossply.dev/v1alpha1
kind: CompositionTest
metadata:
  name: {plural}
spec:
  composition: ../apis/{plural}/composition.yaml
  xrd: ../apis/{plural}/definition.yaml
  functions: ../functions.yaml
  xr: ../examples/{one}.yaml
  validate: true
  cases:
  - name: runs the image, with two replicas by default
    expect:
      resources:
      - name: deployment
        object:
          kind: Deployment
          spec:
            replicas: 2
            template:
              spec:
                containers:
                - name: main
                  image: registry.example.org/hello:1.0

  - name: is ready when the Deployment is
    rounds:
    - expect:
        conditions:
        - type: Ready
          status: "False"
    - observe:
      - name: deployment
        status:
          availableReplicas: 2
          readyReplicas: 2
          replicas: 2
          updatedReplicas: 2
          conditions:
          - type: Available
            status: "True"
      expect:
        unchanged: true
        composite:
          status:
            replicas: 2
        conditions:
        - type: Ready
          status: "True"

  - name: runs as many replicas as the XR says
    xrPatch:
      spec:
        replicas: 5
    expect:
      resources:
      - name: deployment
        object:
          spec:
            replicas: 5
"""
