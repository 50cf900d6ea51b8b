"""Assets that are not ours are those that were published, and all are in the wheel."""

import hashlib
import pathlib

import pytest

import crossply.ui

ASSETS = pathlib.Path(crossply.ui.__file__).parent / "assets"
PUBLISHED = {
    "htmx.min.js": "d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717",
    "idiomorph-ext.min.js": "5811b9a7eda14878b7dab4378bf60432e1bb6f11fcfb970cc26540642650181e",
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_an_asset_is_as_it_was_published(name):
    assert hashlib.sha256((ASSETS / name).read_bytes()).hexdigest() == PUBLISHED[name]


def test_the_licence_of_every_published_asset_is_beside_it():
    licences = (ASSETS / "LICENSES.txt").read_text()
    for name in PUBLISHED:
        assert name in licences


def test_our_scripts_and_styles_load_nothing_from_elsewhere():
    for path in ASSETS.iterdir():
        if path.name not in PUBLISHED and path.suffix in (".js", ".css"):
            text = path.read_text()
            assert "http:" not in text
            assert "https:" not in text
            assert "eval(" not in text
