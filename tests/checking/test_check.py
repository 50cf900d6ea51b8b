"""`check`: a repository in order has no findings; each mistake has one, at its line, with what to do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from crossply.checking.check import CheckOptions, check
from crossply.checking.finding import ERROR, WARNING
from tests.support.checking.platform import CLAIM, COMPOSITION, CONFIGURATION, DEFINITION, Platform

DEFINED, COMPOSED, EXAMPLE = "apis/lamps/definition.yaml", "apis/lamps/composition.yaml", "examples/lamp.yaml"
ROOT = Path(__file__).parents[2]


@pytest.fixture
def platform(tmp_path: Path) -> Platform:
    return Platform(tmp_path)


def test_a_project_in_order_has_no_findings_and_its_example_is_rendered(platform: Platform) -> None:
    report = platform.report()
    assert report.findings == ()
    assert (report.files, report.definitions, report.compositions) == (4, 1, 1)
    assert (report.examples, report.rendered) == (1, 1)


def test_a_configuration_package_in_order_has_no_findings(platform: Platform) -> None:
    platform.as_package()
    report = platform.report()
    assert (report.findings, report.rendered) == ((), 1)


MISTAKES = {
    "a file that is no YAML": (EXAMPLE, "metadata:", "metadata: {", 5, "CP-130", ""),
    "a definition with a field of a wrong type": (
        *(DEFINED, "served: true", "served: perhaps", 15, "CP-555"),
        "",
    ),
    "a definition whose schema is not structural": (
        *(DEFINED, "                    type: integer", "                    nullable: true", 29, "CP-555"),
        "an API server refuses",
    ),
    "a Composition with an unknown field": (
        *(COMPOSED, "  mode: Pipeline", "  mode: Pipeline\n  colour: red", 10, "CP-555"),
        "correct its name",
    ),
    "a Composition for a version that is not defined": (
        *(
            COMPOSED,
            "    apiVersion: example.org/v1\n    kind: XLamp",
            "    apiVersion: example.org/v2\n    kind: XLamp",
        ),
        *(6, "CP-554", "example.org/v1"),
    ),
    "a Composition for a kind that is not defined": (
        *(COMPOSED, "kind: XLamp", "kind: XLamb", 6, "CP-554", "did you mean XLamp of example.org/v1?"),
    ),
    "a step whose function is not known": (
        *(COMPOSED, "function-auto-ready", "function-auto-raedy", 38, "CP-553"),
        "did you mean function-auto-ready?",
    ),
    "an input with an unknown field": (
        *(COMPOSED, "        base:", "        bases: {}\n        base:", 19, "CP-556"),
        "patch-and-transform.md",
    ),
    "an input that is not valid": (
        *(COMPOSED, "type: ToCompositeFieldPath", "type: ToCompositFieldPath", 31, "CP-556", ""),
    ),
    "a patch from a field that does not exist": (
        *(COMPOSED, "fromFieldPath: spec.parameters.brightness", "fromFieldPath: spec.parameters.brightnes"),
        *(25, "CP-552", "did you mean spec.parameters.brightness?"),
    ),
    "a patch from a field that is elsewhere": (
        *(COMPOSED, "fromFieldPath: spec.parameters.brightness", "fromFieldPath: spec.brightness"),
        *(25, "CP-552", "did you mean spec.parameters.brightness?"),
    ),
    "a patch to a status that does not exist": (
        *(
            COMPOSED,
            "toFieldPath: status.address",
            "toFieldPath: status.url",
            33,
            "CP-552",
            "status has address",
        ),
    ),
    "a patch to a field that the composed kind does not have": (
        *(COMPOSED, "toFieldPath: data.brightness", "toFieldPath: dada.brightness", 26, "CP-552"),
        "did you mean data.brightness?",
    ),
    "an example that its definition refuses": (
        *(EXAMPLE, "brightness: 7", "brightness: bright", 8, "CP-555", ""),
    ),
    "an example with an unknown field": (
        *(EXAMPLE, "brightness: 7", "brightness: 7\n    hue: red", 9, "CP-555", "add it to the schema"),
    ),
    "an example of a version that is not served": (
        *(EXAMPLE, "example.org/v1", "example.org/v3", 1, "CP-555", "its definition has v1"),
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_has_one_finding_at_its_line_with_a_hint(platform: Platform, mistake: str) -> None:
    file, old, new, line, code, hint = MISTAKES[mistake]
    platform.replace(file, old, new)
    finding = platform.only_finding()
    assert (finding.level, finding.file, finding.line, finding.code) == (ERROR, file, line, code)
    assert hint in finding.hint


def test_a_rendering_that_fails_is_an_error_of_the_example(platform: Platform) -> None:
    template = COMPOSITION[: COMPOSITION.index("  - step: compose")] + (
        "  - step: compose\n    functionRef:\n      name: function-go-templating\n    input:\n"
        "      apiVersion: gotemplating.fn.crossplane.io/v1beta1\n      kind: GoTemplate\n"
        "      source: Inline\n      inline:\n        template: '{{ fail \"no lamps today\" }}'\n"
    )
    platform.write(COMPOSED, template)
    finding = platform.only_finding()
    assert (finding.file, finding.line, finding.code) == (EXAMPLE, 1, "CP-207")
    assert "no lamps today" in finding.message


def test_a_composed_resource_that_its_kind_refuses_is_an_error(platform: Platform) -> None:
    platform.replace(COMPOSED, "          kind: ConfigMap", "          kind: ConfigMap\n          date: {}")
    finding = platform.only_finding()
    assert (finding.file, finding.code) == (EXAMPLE, "CP-555")
    assert 'composed resource "settings" (ConfigMap)' in finding.message
    assert 'unknown field "date"' in finding.message


def test_a_field_of_a_crd_among_the_files_is_known(platform: Platform) -> None:
    platform.write("crds/bulb.yaml", _CRD)
    platform.replace(
        COMPOSED, "apiVersion: v1\n          kind: ConfigMap", "apiVersion: b.org/v1\n          kind: Bulb"
    )
    platform.replace(COMPOSED, "toFieldPath: data.brightness", "toFieldPath: spec.wats")
    finding = platform.only_finding()
    assert (finding.line, finding.hint) == (26, "did you mean spec.watts?")


def test_kinds_of_a_cached_dependency_are_known_and_others_are_a_warning(platform: Platform) -> None:
    platform.replace("upbound.yaml", "spec:\n", f"spec:\n{_DEPENDENCY}")
    platform.replace(
        COMPOSED, "apiVersion: v1\n          kind: ConfigMap", "apiVersion: b.org/v1\n          kind: Bulb"
    )
    platform.replace(COMPOSED, "toFieldPath: data.brightness", "toFieldPath: spec.wats")
    finding = platform.only_finding()
    assert (finding.level, finding.file, finding.code) == (WARNING, "upbound.yaml", "CP-557")
    assert "crossply dependency update-cache" in finding.hint
    cached = "cache/registry.example.org/team/provider-bulbs@v1.4.0/package.yaml"
    platform.write(cached, _CRD)
    report = platform.report("apis")
    assert [(item.line, item.hint) for item in report.findings] == [(26, "did you mean spec.watts?")]


def test_examples_beside_a_package_are_checked_with_it(platform: Platform) -> None:
    (platform.root / "upbound.yaml").unlink()
    platform.write("apis/crossplane.yaml", CONFIGURATION)
    assert (platform.report().findings, platform.report().rendered) == ((), 1)
    platform.replace(EXAMPLE, "brightness: 7", "brightness: bright")
    assert platform.only_finding().line == 8


def test_a_package_file_inside_of_a_project_makes_no_unit_of_its_own(platform: Platform) -> None:
    platform.write("apis/crossplane.yaml", CONFIGURATION)
    for path in (".", "apis", "apis/lamps", EXAMPLE):
        report = platform.report(path)
        assert (report.findings, report.rendered) == ((), 1)


def test_only_findings_of_the_named_paths_are_shown_but_all_files_count(platform: Platform) -> None:
    platform.replace(EXAMPLE, "brightness: 7", "brightness: bright")
    assert platform.report("apis").findings == ()
    (finding,) = platform.report(EXAMPLE).findings
    assert finding.line == 8


def test_loose_files_are_checked_together(tmp_path: Path) -> None:
    names = {"xrd.yaml": DEFINITION, "composition.yaml": COMPOSITION, "claim.yaml": CLAIM.replace("7", "x")}
    for name, text in names.items():
        (tmp_path / name).write_text(text)
    report = check([str(tmp_path / name) for name in names], CheckOptions(str(tmp_path / "cache")))
    assert [(Path(item.file).name, item.line) for item in report.findings] == [("claim.yaml", 8)]


def test_the_fields_of_a_claim_itself_do_not_reach_functions(platform: Platform) -> None:
    source = (
        "{{ if .observed.composite.resource.spec.compositeDeletePolicy }}{{ fail `of the claim` }}{{ end }}"
    )
    template = (
        "  pipeline:\n  - step: fields\n    functionRef:\n      name: function-go-templating\n    input:\n"
        "      apiVersion: gotemplating.fn.crossplane.io/v1beta1\n      kind: GoTemplate\n"
        f"      source: Inline\n      inline:\n        template: '{source}'\n"
    )
    platform.replace(COMPOSED, "  pipeline:\n", template)
    platform.replace(EXAMPLE, "spec:\n", "spec:\n  compositeDeletePolicy: Foreground\n")
    assert (platform.report().findings, platform.report().rendered) == ((), 1)


def test_what_may_be_elsewhere_is_a_warning_in_loose_files(tmp_path: Path) -> None:
    (tmp_path / "composition.yaml").write_text(COMPOSITION.replace("function-auto-ready", "ours"))
    report = check([str(tmp_path)], CheckOptions(str(tmp_path / "cache")))
    assert [(item.level, item.code) for item in report.findings] == [(WARNING, "CP-554"), (WARNING, "CP-553")]


def test_an_example_whose_function_is_an_image_is_not_rendered_and_said_so(platform: Platform) -> None:
    platform.replace("upbound.yaml", "spec:\n", f"spec:\n{_DEPENDENCY.replace('Provider', 'Function')}")
    platform.replace(COMPOSED, "function-auto-ready", "team-provider-bulbs")
    report = platform.report()
    assert (report.findings, report.rendered) == ((), 0)
    assert "the function team-provider-bulbs is not built in" in report.skipped[0].reason


KCL_STEP = """\
  - step: program
    functionRef:
      name: function-kcl
    input:
      apiVersion: krm.kcl.dev/v1alpha1
      kind: KCLInput
      spec:
        dependencies: |
          {}
        source: |
          items = []
  - step: ready
"""


@pytest.mark.parametrize(
    ("dependency", "is_rendered"),
    [('k8s = "1.31"', False), ('k8s = { git = "https://example.org/k8s" }', True)],
)
def test_an_example_whose_program_has_modules_of_a_registry_is_not_rendered(
    platform: Platform, dependency: str, is_rendered: bool
) -> None:
    platform.replace(COMPOSED, "  - step: ready\n", KCL_STEP.format(dependency))
    report = platform.report()
    assert report.rendered == int(is_rendered)
    if not is_rendered:
        assert report.findings == ()
        assert 'step "program" fetches modules' in report.skipped[0].reason


def test_an_example_whose_function_has_modules_of_a_registry_is_not_rendered(platform: Platform) -> None:
    platform.write("functions/compose/main.k", "items = []\n")
    platform.write("functions/compose/kcl.mod", '[dependencies]\nmodels = { path = "../../lib" }\n')
    platform.write("lib/kcl.mod", '[dependencies]\nk8s = "1.31"\n')
    platform.replace(COMPOSED, "function-auto-ready", "team-lampscompose")
    report = platform.report()
    assert (report.findings, report.rendered) == ((), 0)
    assert 'step "ready" fetches modules' in report.skipped[0].reason


def test_a_directory_that_cannot_be_read_is_a_finding(platform: Platform) -> None:
    start = os.getcwd()
    os.chdir(platform.root)
    try:
        for _ in range(30):  # longer together than any path may be
            os.mkdir("d" * 200)
            os.chdir("d" * 200)
    finally:
        os.chdir(start)
    (finding,) = platform.report().findings
    assert finding.message == "cannot read the directory: file name too long"


def test_what_a_rendering_printed_is_no_example(platform: Platform) -> None:
    shown = "apiVersion: example.org/v1\nkind: XLamp\nmetadata: {name: x}\nstatus: {conditions: []}\n"
    platform.write("expected.yaml", shown)
    assert platform.report().examples == 1


def test_the_compositions_of_the_examples_directory_pass_as_they_are() -> None:
    report = check([str(ROOT / "examples")], CheckOptions("/nonexistent"))
    assert [item for item in report.findings if item.level == ERROR] == []
    assert report.rendered >= 17


_CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: bulbs.b.org
spec:
  group: b.org
  scope: Namespaced
  names: {kind: Bulb, plural: bulbs}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              watts:
                type: string
"""
_DEPENDENCY = """\
  dependsOn:
  - apiVersion: pkg.crossplane.io/v1
    kind: Provider
    package: registry.example.org/team/provider-bulbs
    version: ">=v1.0.0"
"""
