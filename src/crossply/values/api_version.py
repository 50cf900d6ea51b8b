"""The `apiVersion` of an object: group and version (`apps/v1`); only a version in the core group (`v1`)."""

from __future__ import annotations


def split_api_version(api_version: str) -> tuple[str, str]:
    """Return the group and the version. The core group is empty."""
    group, _, version = api_version.rpartition("/")
    return group, version


def api_group(api_version: str) -> str:
    """Return the group; the core group is empty."""
    return api_version.rpartition("/")[0]


def format_kind(api_version: str, kind: str) -> str:
    """Return a group, version and kind as Go prints a `schema.GroupVersionKind`."""
    group, version = split_api_version(api_version)
    return f"{group}/{version}, Kind={kind}"
