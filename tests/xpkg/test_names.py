"""Names of images are read as Go's library reads them, and become names that Kubernetes accepts."""

from __future__ import annotations

import pytest

from crossply.xpkg.dns_names import friendly_id, to_dns_label
from crossply.xpkg.failures import BadReference
from crossply.xpkg.image_reference import Reference, parse, parse_tag

DIGEST = f"sha256:{'0123456789abcdef' * 4}"

READ = [
    ("registry.test/team/x:v1", Reference("registry.test", "team/x", "v1")),
    ("registry.test:5000/x1", Reference("registry.test:5000", "x1", "latest")),
    (f"registry.test/x1@{DIGEST}", Reference("registry.test", "x1", "", DIGEST)),
    (f"registry.test/x1:v2@{DIGEST}", Reference("registry.test", "x1", "v2", DIGEST)),
    ("docker.io/team/x:v1", Reference("index.docker.io", "team/x", "v1")),
    ("ubuntu", Reference("index.docker.io", "library/ubuntu", "latest")),
    ("team/x:v1", Reference("index.docker.io", "team/x", "v1")),
    ("localhost:5000/x1:v1", Reference("localhost:5000", "x1", "v1")),
    ("localhost:5000/x1", Reference("localhost:5000", "x1", "latest")),
    ("localhost/team/x:v1", Reference("localhost", "team/x", "v1")),
    ("registry:5000/team/x:v1", Reference("registry:5000", "team/x", "v1")),
    (f"localhost:5000/x1@{DIGEST}", Reference("localhost:5000", "x1", "", DIGEST)),
    ("REGISTRY.test:05000/team/x:v1", Reference("registry.test:5000", "team/x", "v1")),
    ("registry.test./team/x:v1", Reference("registry.test", "team/x", "v1")),
    ("Docker.IO/team/x:v1", Reference("index.docker.io", "team/x", "v1")),
    ("[::1]:5000/x1:v1", Reference("[::1]:5000", "x1", "v1")),
]


@pytest.mark.parametrize(("text", "reference"), READ)
def test_references_are_read(text: str, reference: Reference) -> None:
    assert parse(text) == reference


@pytest.mark.parametrize(
    "text",
    ["", "UPPER", "a b", "registry.test/x1:", "registry.test/x1@sha256:12", "registry.test/../x", "x@y@z"],
)
def test_an_invalid_image_name_is_refused(text: str) -> None:
    with pytest.raises(BadReference, match=r"^could not parse reference: "):
        parse(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("team/x:v1", "strict validation requires the registry to be explicitly defined"),
        ("registry.test/team/x", "tag must be between 1 and 128 characters in length: "),
        ("registry.test/team/X:v1", "repository can only contain the characters "),
        ("registry.test/x:v1", "repository must be between 2 and 255 characters in length: x"),
        ("docker.io/ubuntu:v1", "strict validation requires the full repository path (missing 'library')"),
        ("registry.test/team/x:v1!", "tag can only contain the characters "),
        ("reg!stry.test/team/x:v1", "registries must be valid RFC 3986 URI authorities: reg!stry.test"),
    ],
)
def test_where_a_full_name_is_required_the_reason_is_reported(text: str, reason: str) -> None:
    with pytest.raises(BadReference) as caught:
        parse_tag(text, strict=True)
    assert str(caught.value).startswith(reason)


LABELS = [
    ("crossplane-contrib/function-auto-ready", "crossplane-contrib-function-auto-ready", "a slash separates"),
    ("Org_Name/Foo.Bar", "rgame-oo-ar", "upper case and underscores are left out"),
    ("-a-", "a", "no hyphen at an end"),
    ("a" * 70, "a" * 63, "no longer than a label"),
    ("a" * 62 + "." + "b", "a" * 62, "no separator at the end of what is looked at"),
    ("é/x", "x", "what is not ASCII is left out"),
]


@pytest.mark.parametrize(("text", "label", "why"), LABELS, ids=[row[2] for row in LABELS])
def test_names_become_labels(text: str, label: str, why: str) -> None:
    assert to_dns_label(text) == label, why


def test_an_identity_makes_a_name_unique() -> None:
    name = "crossplane-contrib-function-patch-and-transform"
    assert friendly_id(name, "0123456789abcdef0123") == f"{name}-0123456789ab"
    assert friendly_id("a" * 60, "0123456789abcdef") == f"{'a' * 50}-0123456789ab"
