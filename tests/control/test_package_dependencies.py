"""How a package stands among those of the Lock: what it needs, what is missing, and what is of no use."""

from __future__ import annotations

import pytest

from crossply.control.package_manager.dependency_reconciler import _mentioned as mentioned
from crossply.control.package_manager.lock import standing
from crossply.xpkg.dependencies import Dependency, Locked, best_version


def locked(name: str, version: str = "v1.0.0", *constraints: tuple[str, str], source: str = "") -> Locked:
    dependencies = tuple(Dependency(package, constraint, "Function") for package, constraint in constraints)
    return Locked(f"{name}-rev", source or name, version, "Configuration", dependencies)


def figures(packages: list[Locked], name: str, is_new: bool = False) -> tuple[int, int, int, str]:
    counts = standing(packages, f"{name}-rev", is_new)
    return counts.found, counts.installed, counts.invalid, str(counts.problem or "")


def test_one_that_wants_nothing_has_all():
    assert figures([locked("a")], "a") == (0, 0, 0, "")


def test_a_new_lock_entry_reports_its_own_missing_dependencies():
    packages = [locked("b", "v1.0.0", ("c", "*")), locked("a", "v1.0.0", ("b", "*"), ("x", ">=v1"))]
    assert figures(packages, "a", is_new=True) == (2, 1, 0, 'missing dependencies: "x" (>=v1)')


def test_later_all_that_is_below_counts():
    packages = [locked("b", "v1.0.0", ("c", "*")), locked("a", "v1.0.0", ("b", "*"))]
    assert figures(packages, "a") == (2, 1, 0, 'missing dependencies: "c" (*)')
    assert figures([*packages, locked("c")], "a") == (2, 2, 0, "")


def test_missing_dependencies_of_other_packages_do_not_count():
    packages = [locked("a", "v1.0.0", ("b", "*")), locked("b"), locked("z", "v1.0.0", ("y", "*"))]
    assert figures(packages, "a") == (1, 1, 0, "")


def test_a_wrong_version_is_counted_and_explained():
    packages = [locked("a", "v1.0.0", ("b", ">=v2.0.0")), locked("b")]
    count, installed, invalid, problem = figures(packages, "a")
    assert (count, installed, invalid) == (1, 1, 1)
    assert problem.splitlines() == [
        "incompatible dependencies: existing package b@v1.0.0 is incompatible with constraint >=v2.0.0",
        "b@v1.0.0",
        "└─ >=v2.0.0 required by a@v1.0.0  ✗ v1.0.0 is not",
    ]


def test_of_several_active_revisions_one_must_do():
    packages = [locked("a", "v1.0.0", ("b", ">=v2.0.0")), locked("b2", "v2.0.0", source="b"), locked("b")]
    assert figures(packages, "a") == (1, 1, 0, "")


def test_a_digest_must_be_the_one():
    digest = f"sha256:{'a' * 64}"
    packages = [locked("a", "v1.0.0", ("b", digest)), locked("b", digest)]
    assert figures(packages, "a") == (1, 1, 0, "")
    assert figures([packages[0], locked("b", "v1.0.0")], "a")[2] == 1


def test_ten_thousand_dependencies_are_summarized():
    wide = locked("a", "v1.0.0", *((f"d{number:05}", ">=v1.0.0") for number in range(10_000)))
    message = (
        'missing dependencies: "d00000" (>=v1.0.0), "d00001" (>=v1.0.0), "d00002" (>=v1.0.0), and 9997 more'
    )
    assert figures([wide], "a", is_new=True) == (10_000, 0, 0, message)
    assert figures([wide], "a") == (10_000, 0, 0, message)
    present = [locked(f"d{number:05}", "v0.1.0") for number in range(10_000)]
    count, installed, invalid, problem = figures([wide, *present], "a")
    assert (count, installed, invalid) == (10_000, 10_000, 10_000)
    assert len(problem) < 5000


def test_a_circle_is_gone_through_once():
    packages = [locked("a", "v1.0.0", ("b", "*")), locked("b", "v1.0.0", ("a", "*"), ("c", "*"))]
    assert figures(packages, "a") == (2, 1, 0, 'missing dependencies: "c" (*)')


@pytest.mark.parametrize(
    ("constraints", "version"),
    [
        ([">=v0.8.0"], "v0.8.0"),
        ([">=v0.2.0", ">=v0.9.1"], "v0.9.1"),
        (["=1.2.3"], "1.2.3"),
        (["<v1.0.0"], None),
        (["*"], None),
        ([">=v2.0.0", "<v1.0.0"], None),
    ],
    ids=["the lowest", "that of the choosiest", "the only one", "none is named", "any", "none does"],
)
def test_a_built_in_function_is_installed_as_the_required_version(constraints, version):
    dependencies = [
        Dependency("x/crossplane-contrib/function-auto-ready", constraint, "Function")
        for constraint in constraints
    ]
    assert best_version(dependencies, mentioned(dependencies)) == version
