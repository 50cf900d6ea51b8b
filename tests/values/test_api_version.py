"""The apiVersion of an object is split into group and version."""

from __future__ import annotations

import pytest

from crossply.values.api_version import api_group, format_kind, split_api_version


@pytest.mark.parametrize(
    ("api_version", "group", "version"),
    [
        ("apps/v1", "apps", "v1"),
        ("v1", "", "v1"),
        ("example.org/v1alpha1", "example.org", "v1alpha1"),
        ("", "", ""),
    ],
)
def test_the_core_group_is_empty(api_version, group, version):
    assert split_api_version(api_version) == (group, version)
    assert api_group(api_version) == group


def test_a_kind_is_written_as_go_does():
    assert format_kind("apps/v1", "Deployment") == "apps/v1, Kind=Deployment"
    assert format_kind("v1", "Pod") == "/v1, Kind=Pod"
