"""The site of the documentation builds without a network, and is read without one."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from crossply.cli.framework.failure_reports import ERRORS_PAGE
from tests.support.docs.pages import ROOT

_FETCHED = re.compile(
    r"""<(?:script|img|iframe)[^>]*\ssrc="(https?:[^"]*)"|<link[^>]*rel="stylesheet"[^>]*href="(https?:[^"]*)\""""
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("site")
    command = [sys.executable, str(ROOT / "tools/build_site.py"), str(directory)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return directory


def test_every_page_of_the_documentation_is_on_the_site(site: Path) -> None:
    names = [page.relative_to(ROOT / "docs").with_suffix("") for page in (ROOT / "docs").rglob("*.md")]
    missing = [str(name) for name in names if not _page(site, name).exists()]
    assert names
    assert not missing


def _page(site: Path, name: Path) -> Path:
    return site / name.parent / "index.html" if name.name == "index" else site / name / "index.html"


def test_reading_the_site_fetches_nothing_from_other_hosts(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    fetched = {match[0] for page in pages for match in _FETCHED.finditer(page.read_text(encoding="utf-8"))}
    assert pages
    assert not fetched


def test_the_site_can_be_searched(site: Path) -> None:
    assert "composite resource" in (site / "search/search_index.json").read_text(encoding="utf-8")


def test_the_address_that_an_error_prints_is_a_place_on_the_site(site: Path) -> None:
    folder = ERRORS_PAGE.removeprefix("https://crossply.dev/")
    page = (site / folder / "index.html").read_text(encoding="utf-8")
    codes = json.loads((ROOT / "src/crossply/cli/explain/error_pages.json").read_text())
    assert codes
    assert [code for code in codes if f'id="{code.lower()}"' not in page] == []
