"""ImageConfigs: the longest prefix wins, for each section by itself."""

from __future__ import annotations

from typing import Any

from crossply.packages.image_configs import RUNTIME, choose, pull_secret, rewritten


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
    assert choose(configs, "xpkg.test/acme/x:v1", RUNTIME) is None


def test_a_rewritten_image_is_what_the_secret_is_chosen_for() -> None:
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
