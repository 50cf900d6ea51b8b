"""ImageConfigs: the longest prefix wins, for each section by itself."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.xpkg.image_config_selection import VERIFICATION, is_for, pull_secret, rewritten, select_config


def config(name: str, *prefixes: str, **spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": name},
        "spec": {"matchImages": [{"type": "Prefix", "prefix": prefix} for prefix in prefixes], **spec},
    }


def rewrite(name: str, prefix: str, to: str) -> dict[str, Any]:
    return config(name, prefix, rewriteImage={"prefix": to})


def secret(name: str, prefix: str) -> dict[str, Any]:
    return config(name, prefix, registry={"authentication": {"pullSecretRef": {"name": f"{name}-secret"}}})


def test_the_longest_prefix_wins_and_the_first_of_two_as_long() -> None:
    configs = [
        rewrite("short", "xpkg.test/", "a.test/"),
        rewrite("long", "xpkg.test/acme", "b.test/other"),
        rewrite("late", "xpkg.test/acme", "c.test/"),
    ]
    assert rewritten(configs, "xpkg.test/acme/x:v1") == ("b.test/other/x:v1", "long")
    assert rewritten(configs, "xpkg.test/x:v1") == ("a.test/x:v1", "short")
    assert rewritten(configs, "other.test/x:v1") == ("other.test/x:v1", "")


def test_sections_are_chosen_by_themselves() -> None:
    configs = [rewrite("r", "xpkg.test/acme/x", "a.test/x"), secret("s", "xpkg.test/")]
    assert pull_secret(configs, "xpkg.test/acme/x:v1") == ("s-secret", "s")
    assert select_config(configs, "xpkg.test/acme/x:v1", ("runtime",)) is None


def test_a_pull_secret_is_chosen_for_the_rewritten_image() -> None:
    configs = [
        rewrite("r", "xpkg.test/", "mirror.test/"),
        secret("theirs", "xpkg.test/"),
        secret("m", "mirror."),
    ]
    image, _ = rewritten(configs, "xpkg.test/acme/x:v1")
    assert pull_secret(configs, image) == ("m-secret", "m")


def test_odd_configurations_are_for_nothing() -> None:
    odd: list[Any] = [{}, {"spec": {}}, {"spec": {"matchImages": [1, {"prefix": 2}], "rewriteImage": {}}}]
    assert rewritten(odd, "x.test/y:v1") == ("x.test/y:v1", "")
    assert pull_secret(odd, "x.test/y:v1") == ("", "")


@pytest.mark.parametrize(
    ("prefix", "image", "reason"),
    [
        ("localhost:15001/", "LOCALHOST:15001/acme/x:v1", "host names have no case"),
        ("localhost:15001/", "localhost:015001/acme/x:v1", "ports have no leading zeros"),
        ("xpkg.test/", "xpkg.test:443/acme/x:v1", "the port of https"),
        ("xpkg.test:443/acme", "xpkg.test/acme/x:v1", "the port of https, in the prefix"),
        ("xpkg.test/", "xpkg.test./acme/x:v1", "a name that ends with the root of all"),
        ("XPKG.test/", "xpkg.test/acme/x:v1", "capitals in the prefix"),
        ("docker.io/acme", "index.docker.io/acme/x:v1", "Docker's registry has several names"),
        ("index.docker.io/acme", "docker.io/acme/x:v1", "Docker's registry has several names"),
        ("docker.io/acme", "registry-1.docker.io/acme/x:v1", "Docker's registry has several names"),
        ("docker.io/acme", "acme/x:v1", "Docker's registry may be left out"),
        ("docker.io/library/x1", "docker.io/x1:v1", "and its library"),
        ("docker.io/x1", "docker.io/library/x1:v1", "or not"),
    ],
)
def test_an_image_matches_however_its_registry_is_spelled(prefix: str, image: str, reason: str) -> None:
    verified = config("sig", prefix, verification={"provider": "Cosign"})
    assert select_config([verified], image, VERIFICATION) is not None, reason
    assert is_for([prefix], image), reason


def test_other_registries_do_not_match() -> None:
    verified = config("sig", "xpkg.test/", verification={"provider": "Cosign"})
    for image in ("xpkg.test.example.org/x1:v1", "xpkg.test:5000/x1:v1", "other.test/xpkg.test/x1:v1"):
        assert select_config([verified], image, VERIFICATION) is None


def test_an_image_is_rewritten_in_the_spelling_that_matches() -> None:
    configs = [rewrite("r", "xpkg.test/", "mirror.test/")]
    assert rewritten(configs, "XPKG.test:443/acme/x:v1") == ("mirror.test/acme/x:v1", "r")
