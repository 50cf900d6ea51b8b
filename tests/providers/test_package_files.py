"""The CRDs in the packages of providers that ship are those of their code."""

from __future__ import annotations

import pytest

from crossply.provider.package_files import check_package_files
from tests.support.paths import ROOT

PROVIDERS = sorted(path.parent for path in (ROOT / "providers").glob("*/crossplane.yaml"))


@pytest.mark.parametrize("directory", PROVIDERS, ids=lambda path: path.name)
def test_the_crds_are_current(directory: object):
    check_package_files(str(directory))
