"""A document of comments only is passed over wherever a command reads YAML."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from crossply.manifests.files import read_objects
from tests.support.cli.command import Run

XR = "apiVersion: example.org/v1\nkind: XApp\nmetadata: {name: app, namespace: default}\nspec: {size: 3}\n"
COMPOSITION = """\
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: app}
spec:
  compositeTypeRef: {apiVersion: example.org/v1, kind: XApp}
  mode: Pipeline
  pipeline:
  - step: render
    functionRef: {name: function-go-templating}
    credentials:
    - {name: key, source: Secret, secretRef: {namespace: default, name: key}}
    requirements:
      requiredResources:
      - {requirementName: extra, apiVersion: v1, kind: ConfigMap, name: extra, namespace: default}
    input:
      apiVersion: gotemplating.fn.crossplane.io/v1beta1
      kind: GoTemplate
      source: Inline
      inline:
        template: |
          apiVersion: v1
          kind: ConfigMap
          metadata:
            annotations: {gotemplating.fn.crossplane.io/composition-resource-name: made}
          data:
            key: {{ (getCredentialData . "key").word | toString | quote }}
            context: {{ .context.colour.name | quote }}
            extra: {{ (index (getExtraResources . "extra") 0).resource.data.found | quote }}
            seen: {{ (getComposedResource . "made").data.before | quote }}
"""
FUNCTIONS = """\
apiVersion: pkg.crossplane.io/v1
kind: Function
metadata: {name: function-go-templating}
spec: {package: xpkg.crossplane.io/crossplane-contrib/function-go-templating:v0.12.0}
"""
OBSERVED = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: app-made
  namespace: default
  annotations: {crossplane.io/composition-resource-name: made}
data: {before: seen}
"""
EXTRA = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra, namespace: default}\ndata: {found: it}\n"
SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {name: key, namespace: default}\ndata: {word: c2VjcmV0}\n"
XRD = """\
apiVersion: apiextensions.crossplane.io/v1
kind: CompositeResourceDefinition
metadata: {name: xapps.example.org}
spec:
  group: example.org
  names: {kind: XApp, plural: xapps}
  versions:
  - name: v1
    served: true
    referenceable: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {size: {type: integer}}}}
"""
META = "apiVersion: meta.pkg.crossplane.io/v1\nkind: Configuration\nmetadata: {name: app}\n"
SUITE = """\
apiVersion: crossply.dev/v1alpha1
kind: CompositionTest
metadata: {name: app}
spec:
  xr: xr.yaml
  composition: composition.yaml
  functions: [functions.yaml]
  credentials: [secrets.yaml]
  requiredResources: [extra.yaml]
  observed: [observed.yaml]
  context: {colour: {name: red}}
  cases:
  - name: made
    expect:
      resources:
      - {name: made, object: {data: {key: secret, seen: seen}}}
"""
PROJECT = """\
apiVersion: dev.crossplane.io/v1alpha1
kind: Project
metadata: {name: app}
spec:
  repository: example.org/app
"""
FILES = {
    "xr.yaml": XR,
    "composition.yaml": COMPOSITION,
    "functions.yaml": FUNCTIONS,
    "observed.yaml": OBSERVED,
    "extra.yaml": EXTRA,
    "secrets.yaml": SECRET,
    "colour.yaml": "name: red\n",
    "xrd.yaml": XRD,
    "suite.yaml": SUITE,
    "crossplane-project.yaml": PROJECT,
    "package/crossplane.yaml": META,
    "package/xrd.yaml": XRD,
    "package/examples/xr.yaml": XR,
}
NOISE = {
    "above": "# a licence\n---\n{}",
    "a document before": "---\n# nothing\n---\n{}",
    "separators twice": "---\n---\n\n---\n{}",
    "ended before": "# nothing\n...\n---\n{}",
    "ended without a separator": "# nothing\n...\n{}",
    "a document behind": "{}---\n# nothing\n",
    "documents all around": "---\n# one\n--- # two\n# three\n---\n{}...\n---\n\n  # four\n---\n...\n---\n",
    "a byte order mark behind": "---\n# nothing\n---\n\ufeff{}\ufeff---\n# nothing\n",
    "a byte order mark": "\ufeff---\n# nothing\n---\n{}---\n# nothing\n",
}


def render(crossply: Run) -> None:
    words = "render xr.yaml composition.yaml functions.yaml --context-files colour=colour.yaml --xrd xrd.yaml"
    more = "-o observed.yaml -e extra.yaml --function-credentials secrets.yaml"
    code, out, err = crossply(*words.split(), *more.split())
    assert (code, err) == (0, "")
    for text in ("key: secret", "context: red", "extra: it", "seen: seen"):
        assert text in out


def render_from_directories(crossply: Run) -> None:
    for name in ("functions.yaml", "observed.yaml", "extra.yaml", "secrets.yaml"):
        Path(name.removesuffix(".yaml")).mkdir()
        Path(name).rename(f"{name.removesuffix('.yaml')}/{name}")
        Path(f"{name.removesuffix('.yaml')}/empty.yaml").write_text("# nothing\n")
    words = (
        "render xr.yaml composition.yaml functions --context-files colour=colour.yaml -o observed -e extra"
    )
    code, out, err = crossply(*words.split(), "--function-credentials", "secrets")
    assert (code, err) == (0, "")
    assert "seen: seen" in out


def validate(crossply: Run) -> None:
    assert crossply("resource", "validate", "xrd.yaml", "xr.yaml")[0] == 0
    code, out, _ = crossply("resource", "validate", "package", "xr.yaml")
    assert (code, "1 resources" in out or "Total 1" in out) == (0, True), out


def build(crossply: Run) -> None:
    roots = ("--package-root=package", "--examples-root=package/examples")
    code, _, err = crossply("xpkg", "build", *roots, "--package-file=app.xpkg")
    assert (code, Path("app.xpkg").exists()) == (0, True), err


def run_tests(crossply: Run) -> None:
    code, out, err = crossply("test", "suite.yaml")
    assert code == 0, out + err


def plan(crossply: Run) -> None:
    objects = read_objects(["xr.yaml", "composition.yaml", "xrd.yaml"], io.StringIO())
    assert [obj["kind"] for obj in objects] == ["XApp", "Composition", "CompositeResourceDefinition"]
    stdin = io.TextIOWrapper(io.BytesIO(Path("xr.yaml").read_bytes()))
    assert [obj["kind"] for obj in read_objects(["-"], stdin)] == ["XApp"]


def convert(crossply: Run) -> None:
    code, out, err = crossply("convert", "xrd.yaml")
    assert (code, err) == (0, "")
    assert "apiVersion: apiextensions.crossplane.io/v2" in out


def convert_definition_to_crds(crossply: Run) -> None:
    code, out, err = crossply("xrd", "convert", "xrd.yaml")
    assert (code, err) == (0, "")
    assert "kind: CustomResourceDefinition" in out


def convert_composition(crossply: Run) -> None:
    code, _, err = crossply("composition", "convert", "pipeline-composition", "composition.yaml")
    assert code == 0, err


def call_a_function(crossply: Run) -> None:
    code, out, err = crossply("function", "call", "xr.yaml", "--builtin", "auto-ready")
    assert (code, "tag" in out) == (0, True), out + err


def change_a_project(crossply: Run) -> None:
    code, _, err = crossply("dependency", "add", "k8s:v1.33.0")
    assert code == 0, err
    assert "v1.33.0" in Path("crossplane-project.yaml").read_text()


COMMANDS = (
    render,
    render_from_directories,
    validate,
    build,
    run_tests,
    plan,
    convert,
    convert_definition_to_crds,
    convert_composition,
    call_a_function,
    change_a_project,
)


@pytest.mark.parametrize("ends", ["\n", "\r\n"], ids=["lines", "windows lines"])
@pytest.mark.parametrize("noise", NOISE.values(), ids=NOISE)
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.__name__)
def test_documents_of_comments_only_are_passed_over(
    command: Callable[[Run], None], noise: str, ends: str, crossply: Run
) -> None:
    for name, text in FILES.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(noise.replace("{}", text).replace("\n", ends).encode())
    command(crossply)
