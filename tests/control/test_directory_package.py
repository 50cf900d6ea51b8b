"""Packages of Providers that are local directories: their content, and the setting that allows them."""

from __future__ import annotations

import pytest

from crossply.control.package_manager.directory_package import DirectoryPackages
from crossply.functions.host_access_policy import HostAccess, HostAccessRefused
from crossply.xpkg.failures import BuildFailed
from tests.support.cli.local_provider import provider, write_provider

PYTHON, COMMAND = "--allow-local-functions=DIR", "--allow-local-commands"


def in_python(directory):
    """A Provider without a command."""
    written = provider(directory)
    del written["metadata"]["annotations"]["crossply.dev/command"]
    return written


def revision_of(written):
    return {**written, "kind": "ProviderRevision", "spec": {"image": written["spec"]["package"]}}


async def test_the_digest_is_that_of_the_installed_content_and_changes_with_it(tmp_path):
    write_provider(tmp_path)
    packages, written = DirectoryPackages(HostAccess((str(tmp_path),)).check), in_python(tmp_path)
    digest = await packages.digest(written)
    fetched = await packages.fetch(revision_of(written))
    assert fetched.resolved.digest == digest
    assert fetched.package.name == "provider-try"
    assert [head["metadata"]["name"] for head in fetched.package.objects] == ["things.try.example.org"]
    (tmp_path / "main.py").write_text("# no part of the package\n")
    assert await packages.digest(written) == digest
    write_provider(tmp_path, "second")
    assert await packages.digest(written) != digest


@pytest.mark.parametrize(
    ("access", "make", "flag"),
    [
        (HostAccess(), provider, COMMAND),
        (HostAccess(("/",)), provider, COMMAND),
        (HostAccess(), in_python, PYTHON),
        (HostAccess(("/etc",)), in_python, PYTHON),
    ],
)
async def test_a_provider_of_this_machine_needs_the_operators_word(access, make, flag, tmp_path):
    write_provider(tmp_path)
    with pytest.raises(HostAccessRefused, match=f"allow it with {flag}"):
        await DirectoryPackages(access.check).digest(make(tmp_path))


@pytest.mark.parametrize(
    ("access", "make"), [(HostAccess(commands=True), provider), (HostAccess(("/",)), in_python)]
)
async def test_a_provider_runs_where_the_operator_configures_it(access, make, tmp_path):
    write_provider(tmp_path)
    assert await DirectoryPackages(access.check).digest(make(tmp_path))


async def test_a_directory_that_is_no_provider_is_reported(tmp_path):
    with pytest.raises(BuildFailed, match=r"there is no crossplane.yaml in"):
        await DirectoryPackages(HostAccess(("/",)).check).digest(in_python(tmp_path))
