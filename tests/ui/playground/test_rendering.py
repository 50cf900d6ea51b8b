from time import monotonic

from crossply.ui.playground.platform import Platform
from crossply.ui.playground.rendering import RenderedNode, RenderingSettings, render_tree
from tests.support.ui.shop_platform import (
    DATABASE_COMPOSITION,
    DATABASES,
    FUNCTIONS,
    SHOP_COMPOSITION,
    SHOPS,
    WEB,
    shop,
)

PLATFORM = Platform([SHOPS, DATABASES], [SHOP_COMPOSITION, DATABASE_COMPOSITION], FUNCTIONS)


def _template(text: str) -> Platform:
    step = {**WEB, "input": {**WEB["input"], "inline": {"template": text}}}
    composition = {**SHOP_COMPOSITION, "spec": {**SHOP_COMPOSITION["spec"], "pipeline": [step]}}
    return Platform([SHOPS], [composition], FUNCTIONS)


def _tree(platform: Platform = PLATFORM, seconds: float = 30.0, **spec: object) -> RenderedNode:
    return render_tree(platform, shop("mine", replicas=2, **spec), "", RenderingSettings(seconds=seconds))


def test_a_tree_has_the_composed_resources_and_those_of_nested_composites():
    tree = _tree()
    assert (tree.kind, tree.composition, tree.problem) == ("Shop", "shop", "")
    assert sorted((child.resource, child.kind) for child in tree.children) == [
        ("database", "Database"),
        ("web-0", "ConfigMap"),
        ("web-1", "ConfigMap"),
    ]
    [database] = [child for child in tree.children if child.kind == "Database"]
    assert [child.resource for child in database.children] == ["settings"]
    assert "size: small" in database.children[0].yaml
    assert tree.size == 4


def test_the_same_input_gives_the_same_tree():
    assert _tree() == _tree()


def test_a_function_that_fails_is_part_of_the_picture():
    tree = _tree(_template('{{ fail "no more shops" }}'))
    assert "no more shops" in tree.problem
    assert tree.children == ()


def test_a_function_that_cannot_be_run_here_is_reported():
    unknown = {"step": "own", "functionRef": {"name": "function-own"}}
    composition = {**SHOP_COMPOSITION, "spec": {**SHOP_COMPOSITION["spec"], "pipeline": [unknown]}}
    assert "function-own" in _tree(Platform([SHOPS], [composition], FUNCTIONS)).problem


def test_a_template_that_does_not_end_is_stopped():
    start = monotonic()
    endless = "{{ range until 100000 }}{{ range until 100000 }}x{{ end }}{{ end }}"
    assert _tree(_template(endless), seconds=0.5).problem
    assert monotonic() - start < 10


def test_a_composite_that_composes_itself_ends():
    recursive = """
apiVersion: shop.example.org/v1
kind: Shop
metadata:
  annotations: {gotemplating.fn.crossplane.io/composition-resource-name: again}
spec: {region: eu-west}
"""
    tree = _tree(_template(recursive))
    assert tree.size == 5


def test_pending_requirements_of_a_function_are_reported():
    tree = _tree(
        _template(
            "apiVersion: meta.gotemplating.fn.crossplane.io/v1alpha1\n"
            "kind: ExtraResources\n"
            "requirements: {pw: {apiVersion: v1, kind: Secret, matchName: pw}}\n"
        )
    )
    assert tree.children == ()
    assert tree.messages[0][0] == "warning"
    assert "requires Secret pw, which is not provided" in tree.messages[0][1]
