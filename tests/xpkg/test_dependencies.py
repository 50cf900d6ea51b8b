"""What packages depend on: missing, in a circle, in conflict; and which version is the best."""

from __future__ import annotations

import pytest

from crossply.values.semver_constraints import _groups
from crossply.xpkg.dependencies import (
    MAX_DEPENDENCIES,
    MAX_DEPTH,
    Dependency,
    DependencyError,
    Locked,
    below,
    best_version,
    check_no_circle,
    check_number,
    dependencies_of,
    missing,
    missing_error,
    read_lock,
    unmet,
    unmet_error,
    within_limits,
)
from crossply.xpkg.dependents_tree import why

TAGS = ["v1.0.0", "v1.2.0", "v1.10.0", "v2.0.0", "v2.1.0-rc.1", "latest", "v3", "2.0.1"]


def locked(source: str, *dependencies: tuple[str, str], version: str = "v1.0.0") -> Locked:
    return Locked(
        source, source, version, "Function", tuple(Dependency(*dependency) for dependency in dependencies)
    )


def test_dependencies_are_read_in_every_spelling() -> None:
    meta = {
        "spec": {
            "dependsOn": [
                {
                    "apiVersion": "pkg.crossplane.io/v1",
                    "kind": "Function",
                    "package": "r/f",
                    "version": ">=v1",
                },
                {"provider": "r/p", "version": "v1"},
                {"configuration": "r/c", "version": f"sha256:{'0' * 64}"},
            ]
        }
    }
    assert [(dependency.source, dependency.kind) for dependency in dependencies_of(meta)] == [
        ("r/f", "Function"),
        ("r/p", "Provider"),
        ("r/c", "Configuration"),
    ]
    assert dependencies_of({"spec": {}}) == ()
    with pytest.raises(DependencyError, match="names no package"):
        dependencies_of({"spec": {"dependsOn": [{"version": "v1"}]}})


def test_a_lock_is_read() -> None:
    lock = {
        "packages": [
            {
                "name": "platform-abc",
                "type": "Configuration",
                "source": "r/platform",
                "version": "v1.0.0",
                "dependencies": [{"package": "r/f", "type": "Function", "constraints": ">=v1"}],
            }
        ]
    }
    (package,) = read_lock(lock)
    assert package.shown == "r/platform@v1.0.0"
    assert package.dependencies == (Dependency("r/f", ">=v1", "Function"),)
    assert read_lock({}) == []


BEST = [
    ([">=v1.0.0"], "2.0.1", "the highest, with or without v"),
    (["<v2.0.0"], "v1.10.0", "ten is more than two"),
    ([">=v1.0.0", "<v1.10.0"], "v1.2.0", "what all accept"),
    (["v2.1.0-rc.1"], "v2.1.0-rc.1", "a release candidate only where it is named"),
    ([">=v3.0.0"], None, "v3 has not all its parts"),
    ([">=v2.0.0", "<v2.0.0"], None, "what excludes each other"),
    ([f"sha256:{'0' * 64}"], f"sha256:{'0' * 64}", "a digest is itself"),
    ([f"sha256:{'0' * 64}", ">=v1.0.0"], None, "a digest is no version"),
]


@pytest.mark.parametrize(("constraints", "best", "reason"), BEST, ids=[row[2] for row in BEST])
def test_the_best_version_is_the_highest_that_all_accept(
    constraints: list[str], best: str | None, reason: str
) -> None:
    assert best_version([Dependency("r/f", constraint) for constraint in constraints], TAGS) == best, reason


def test_every_constraint_is_parsed_once_for_all_tags() -> None:
    """Also where there are more of them than are remembered."""
    dependencies = [Dependency("r.test/x", f">=v1.0.{number}", "Function") for number in range(200)]
    _groups.cache_clear()
    assert best_version(dependencies, [f"v1.0.{number}" for number in range(150, 250)]) == "v1.0.249"
    assert _groups.cache_info().misses == len(dependencies)


def test_an_invalid_constraint_is_reported() -> None:
    with pytest.raises(DependencyError, match="invalid constraint for r/f: improper constraint: banana"):
        best_version([Dependency("r/f", "banana")], TAGS)


def test_every_missing_dependency_is_listed_once() -> None:
    packages = [locked("a", ("b", ">=v1"), ("c", ">=v1")), locked("b", ("c", ">=v2"), ("d", "*"))]
    assert [(dependency.source, dependency.constraint) for dependency in missing(packages)] == [
        ("c", ">=v1"),
        ("d", "*"),
    ]
    assert below(packages, "a") == ["c", "b", "d"]


def test_missing_dependencies_are_listed() -> None:
    package = locked("a", ("d", "*"), ("e", "*"), ("f", "*"))
    assert str(missing_error(package.dependencies)) == 'missing dependencies: "d" (*), "e" (*), and "f" (*)'


def test_dependencies_in_other_versions_are_listed() -> None:
    package = locked("a", ("b", ">=v1.0.0"), ("c", "<v1.0.0"))
    wrong = unmet([locked("b"), locked("c")], package)
    message = "incompatible dependencies: existing package c@v1.0.0 is incompatible with constraint <v1.0.0"
    assert str(unmet_error(wrong)) == message
    assert unmet([locked("b")], locked("a", ("b", ">=v1.0.0"))) == []


def test_a_cycle_is_detected_and_shown() -> None:
    packages = [
        locked("x", ("a", "*")),
        locked("a", ("b", "*")),
        locked("b", ("c", "*")),
        locked("c", ("a", "*")),
    ]
    with pytest.raises(DependencyError, match="cannot sort DAG: detected cycle on: a") as caught:
        check_no_circle(packages)
    assert caught.value.hint == "a → b → c → a"
    check_no_circle([locked("a", ("b", "*"), ("c", "*")), locked("b", ("c", "*")), locked("c")])


def test_ten_thousand_packages_in_a_chain_are_no_harm() -> None:
    chain = [locked(f"p{number}", (f"p{number + 1}", ">=v1")) for number in range(10_000)]
    check_no_circle(chain)
    assert [dependency.source for dependency in missing(chain)] == ["p10000"]
    assert len(below(chain, "p0")) == 10_000
    assert len(why(chain, "p10000")) == 502
    with pytest.raises(DependencyError, match="cycle"):
        check_no_circle([*chain, locked("p10000", ("p0", "*"))])


def test_a_package_may_name_five_hundred_dependencies() -> None:
    dependencies = [Dependency(f"r.test/d{number}", "*") for number in range(MAX_DEPENDENCIES + 1)]
    check_number(dependencies[:-1])
    with pytest.raises(DependencyError, match=r"^the package names 501 dependencies, but 500 are allowed$"):
        check_number(dependencies)


def test_a_tree_that_never_ends_is_not_installed_and_others_are() -> None:
    endless = [locked("r/bad", *((f"r/bad{number}", "*") for number in range(25)))]
    for number in range(25):
        children = ((f"r/bad{number}-{child}", "*") for child in range(25))
        endless.append(locked(f"r/bad{number}", *children))
    good = [locked("r/good", ("r/wanted", "*"), ("r/bad3-3", "*"))]
    assert within_limits([*endless, *good]) == {"r/wanted", "r/bad3-3"}


def test_a_chain_is_installed_down_to_its_sixteenth_package() -> None:
    chain = [locked(f"r/c{number}", (f"r/c{number + 1}", "*")) for number in range(40)]
    assert within_limits(chain) == {f"r/c{number}" for number in range(1, MAX_DEPTH + 1)}


def test_diamonds_upon_diamonds_are_walked_once() -> None:
    levels = [
        locked(f"{side}{level}", (f"a{level + 1}", "*"), (f"b{level + 1}", "*"))
        for level in range(200)
        for side in "ab"
    ]
    check_no_circle(levels)
    assert len(below(levels, "a0")) == 400


def test_why_shows_the_dependents_and_their_constraints() -> None:
    packages = [
        locked("platform", ("network", ">=v1.0.0"), ("function", ">=v1.0.0"), version="v2.0.0"),
        locked("network", ("function", "<v1.2.0"), version="v1.1.0"),
        locked("function", version="v1.10.0"),
    ]
    assert why(packages, "function", TAGS) == [
        "function@v1.10.0",
        "├─ >=v1.0.0 required by platform@v2.0.0",
        "└─ <v1.2.0 required by network@v1.1.0  ✗ v1.10.0 is not",
        "   └─ >=v1.0.0 required by platform@v2.0.0",
        "v1.0.0 is what all accept",
    ]
    assert why(packages, "platform", TAGS)[-1] == "no package requires it"
    assert why(packages, "other") == ["other (not installed)"]
    assert why([locked("a", ("b", "*")), locked("b", ("a", "*"))], "a") == [
        "a@v1.0.0",
        "└─ * required by b@v1.0.0",
        "   └─ * required by a@v1.0.0",
    ]
