"""Links between pages lead somewhere."""

from __future__ import annotations

import re

import pytest

from tests.support.docs.pages import ROOT, Page, anchors, pages, read


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_every_link_leads_to_a_file_and_its_anchor_to_a_heading(page: Page) -> None:
    problems = [
        f"{page.name}:{link.line}: {link.target}"
        for link in page.links
        if not re.match(r"[a-z]+:", link.target) and not _resolves(page, link.target)
    ]
    assert not problems, "\n".join(problems)


def _resolves(page: Page, target: str) -> bool:
    name, _, anchor = target.partition("#")
    path = (page.path.parent / name).resolve() if name else page.path
    if not path.exists() or not path.is_relative_to(ROOT):
        return False
    return not anchor or (path.suffix == ".md" and anchor in anchors(read(path)))
