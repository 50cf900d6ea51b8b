"""`trace` of a package shows its revisions, its runtime config and what it depends on, as Crossplane does."""

from __future__ import annotations

import pytest


def test_a_package_shows_its_active_revision_and_every_dependency_once(trace) -> None:
    _, out, _ = trace("configuration suite")
    rows = [line.split() for line in out.splitlines()]
    assert rows[0] == ["NAME", "VERSION", "INSTALLED", "HEALTHY", "STATE", "STATUS"]
    assert [line.rstrip() for line in out.splitlines()[1:]] == [
        "Configuration/suite                  v2.0.0    True        True      -        "
        "HealthyPackageRevision",
        "├─ ConfigurationRevision/suite-now   v2.0.0    -           True      Active   "
        "HealthyPackageRevision",
        "├─ Function/maker                    v0.1.0    True        True      -        "
        "HealthyPackageRevision",
        "│  └─ FunctionRevision/maker-now     v0.1.0    -           True      Active   "
        "HealthyPackageRevision",
        "├─ Provider/sky                      v3.0.0    True        False     -        "
        "UnhealthyPackageRevision: no such image",
        "│  └─ ProviderRevision/sky-now       v3.0.0    -           False     Active   "
        "UnhealthyPackageRevision: no such image",
        "└─ Function/acme-never-came                    -           -         -        "
        'Error: functions.pkg.crossplane.io "acme-never-came" not found',
    ]


@pytest.mark.parametrize(
    ("flag", "there", "not_there"),
    [
        ("--show-package-dependencies=all", ["│  └─ Function/maker"], []),
        ("--show-package-dependencies=none", ["└─ ConfigurationRevision/suite-now"], ["maker", "sky"]),
        ("--show-package-revisions=all", ["├─ ConfigurationRevision/suite-old"], []),
        ("--show-package-revisions=none", ["├─ Function/maker"], ["Revision/"]),
        ("--show-package-runtime-configs", ["│  ├─ DeploymentRuntimeConfig/small"], []),
        ("-o wide", ["reg.test/acme/suite   v2.0.0"], []),
    ],
)
def test_flags_choose_the_shown_parts_of_a_package(
    trace, flag: str, there: list[str], not_there: list[str]
) -> None:
    _, out, _ = trace(f"configuration suite {flag}")
    assert [text for text in there if text not in out] == []
    assert [text for text in not_there if text in out] == []


def test_a_missing_package_is_reported(trace) -> None:
    code, _, err = trace("function none")
    assert code == 1
    assert err.endswith('functions.pkg.crossplane.io "none" not found\n')


def test_dot_draws_packages_with_their_images(trace) -> None:
    _, out, _ = trace("function maker -o dot")
    assert out == (
        "graph  {\n\t\n"
        '\tn1[label="Name: maker\\nApiVersion: pkg.crossplane.io/v1\\nPackage: reg.test/acme/maker:v0.1.0\\n'
        'Installed: True\\nHealthy: True\\n",penwidth="2"];\n'
        '\tn2[label="Name: maker-now\\nApiVersion: pkg.crossplane.io/v1\\n'
        "Package: reg.test/acme/maker:v0.1.0\\n"
        'Healthy: True\\nState: HealthyPackageRevision\\n",penwidth="2"];\n'
        "\tn1--n2;\n\t\n}\n"
    )
