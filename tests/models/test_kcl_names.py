"""Names of KCL models are those of KCL's own importer.

`recorded/go_names.txt` was written by the library that names them there, go-openapi/swag v0.21.1, for fields
and kinds of published CRDs.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from crossply.models.kcl_names import go_name, package_of, property_name

RECORDED = Path(__file__).parent / "recorded" / "go_names.txt"


def test_names_are_spelled_as_recorded() -> None:
    rows = [line.split(" ") for line in RECORDED.read_text().splitlines()]
    assert len(rows) > 100
    assert [go_name(name) for name, _ in rows] == [recorded for _, recorded in rows]


@pytest.mark.parametrize(
    ("group", "version", "kind", "path"),
    [
        ("ec2.aws.m.upbound.io", "v1beta1", "VPC", "io/upbound/awsm/ec2/v1beta1/vpc.k"),
        ("platform.example.com", "v1alpha1", "XBucket", "com/example/platform/v1alpha1/xbucket.k"),
        ("external-secrets.io", "v1", "ExternalSecret", "io/secrets/external/v1/externalsecret.k"),
        ("acme.test", "next", "Lamp", "test/acme/next/lamp.k"),
        ("acme.test.", "next", "Lamp", "_/test/acme/next/lamp.k"),
        ("", "..", "../Lamp", "_/__/___lamp.k"),
        ("../../etc", "v1", "../Lamp", "etc/v1/lamp.k"),
        ("../../etc", "..", "../Lamp", "_/_/etc/_/__lamp.k"),
    ],
)
def test_a_kind_has_a_file_in_the_package_of_its_group(
    group: str, version: str, kind: str, path: str
) -> None:
    place = package_of(group, version, kind).path
    assert (place == path) or not place.startswith(("/", "..")), place
    assert ".." not in place.split("/")


def test_keywords_and_odd_characters_are_marked() -> None:
    assert property_name("size") == "size"
    assert property_name("type") == "$type"
    assert property_name("x-kind") == '"x-kind"'
    assert property_name('a"b') == '"a\\"b"'
