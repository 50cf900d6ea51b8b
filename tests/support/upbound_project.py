"""A project of `up` around the Composition of `suite_folder`."""

from __future__ import annotations

PROJECT = {
    "apiVersion": "meta.dev.upbound.io/v1alpha1",
    "kind": "Project",
    "metadata": {"name": "p"},
    "spec": {"repository": "registry.test/acme/p"},
}
XRD = """\
apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata: {name: apps.example.org}
spec:
  group: example.org
  names: {kind: App, plural: apps}
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
              size: {type: integer, maximum: 10}
              cdn: {type: string, default: large}
          status: {type: object, properties: {url: {type: string}}}
"""
