import pytest

from crossply.ui.playground.typed_resource import MAX_TEXT, read_resource
from tests.support.ui.shop_platform import SHOPS

HEAD = """\
apiVersion: shop.example.org/v1
kind: Shop
metadata:
  name: mine
"""


def _problems(text: str) -> list[tuple[str, int | None]]:
    return [(problem.message, problem.line) for problem in read_resource(text, SHOPS).problems]


def test_a_valid_resource_gets_its_defaults():
    resource = read_resource(f"{HEAD}spec:\n  region: eu-west\n", SHOPS)
    assert resource.problems == ()
    assert resource.typed["spec"] == {"region": "eu-west"}
    assert resource.defaulted["spec"]["replicas"] == 2


@pytest.mark.parametrize(
    ("spec", "message", "line"),
    [
        ("spec:\n  region: mars\n", 'spec.region: Unsupported value: "mars"', 6),
        ("spec:\n  region: eu-west\n  replicas: 20\n", "spec.replicas: Invalid value: 20", 7),
        ("spec:\n  region: eu-west\n  colour: red\n", "unknown field spec.colour", 7),
        ("spec: {}\n", "spec.region: Required value", 5),
    ],
)
def test_an_error_is_reported_with_its_line(spec: str, message: str, line: int):
    [(sentence, place)] = _problems(HEAD + spec)
    assert sentence.startswith(message)
    assert place == line


@pytest.mark.parametrize(
    "text", ["", "# nothing", "- a list", "a: [", "a: b: c", "&a [*a]", "key: \x00", "x" * (MAX_TEXT + 1)]
)
def test_an_invalid_resource_is_refused_with_a_sentence(text: str):
    assert _problems(text)


def test_another_version_or_kind_is_refused():
    assert _problems("apiVersion: shop.example.org/v9\nkind: Shop\nmetadata: {name: x}\n")[0][0] == (
        "the definition has no version shop.example.org/v9"
    )
    assert _problems("apiVersion: shop.example.org/v1\nkind: Car\nmetadata: {name: x}\n")


def test_a_resource_without_a_name_is_refused():
    assert ("metadata.name is required", 1) in _problems(
        "apiVersion: shop.example.org/v1\nkind: Shop\nspec:\n  region: eu-west\n"
    )
