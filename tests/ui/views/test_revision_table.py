from collections import Counter

from crossply.compose.engine_field_paths import MODERN
from crossply.kinds.composition_revision import new_revision
from crossply.ui.plan_jobs import applied_revision
from crossply.ui.views.composition_rows import composites_by_revision, composition_rows, revision_table
from tests.support.ui.shop_platform import SHOP_COMPOSITION, shop

REVISIONS = [
    {**new_revision(SHOP_COMPOSITION, 1), "metadata": {"name": "shop-a", "labels": {}}},
    {**new_revision(SHOP_COMPOSITION, 2), "metadata": {"name": "shop-b", "labels": {}}},
]


def _on(name: str, revision: str, composition: str = "shop") -> dict:
    refs = {"compositionRef": {"name": composition}, "compositionRevisionRef": {"name": revision}}
    return shop(name, crossplane=refs)


def test_revisions_come_newest_first_with_their_number_of_resources():
    composites = [
        _on("a", "shop-a"),
        _on("b", "shop-a"),
        _on("c", "shop-b"),
        _on("d", "x", "other"),
        shop("e"),
    ]
    used = composites_by_revision(composites, "shop", MODERN)
    assert [
        (row.name, row.number, row.composites, row.is_newest) for row in revision_table(REVISIONS, used)
    ] == [
        ("shop-b", 2, 1, True),
        ("shop-a", 1, 2, False),
    ]


def test_revisions_that_cannot_be_read_are_passed_over():
    assert revision_table([{"spec": {"revision": "many"}}], Counter()) == []


def test_the_plan_of_a_revision_applies_the_composition_as_it_was():
    applied = applied_revision(SHOP_COMPOSITION, REVISIONS[0])
    assert (applied["kind"], applied["metadata"]) == ("Composition", {"name": "shop"})
    assert applied["spec"] == SHOP_COMPOSITION["spec"]


def test_compositions_are_listed_with_the_worst_of_their_functions():
    broken = {"metadata": {"name": "broken"}, "spec": {"pipeline": 1}}
    rows = composition_rows([SHOP_COMPOSITION, broken], {}, Counter(shop=3))
    assert [(row.name, row.composites, row.health.state) for row in rows] == [
        ("broken", 0, "failing"),
        ("shop", 3, "failing"),
    ]
    assert rows[1].health.word == "function-patch-and-transform: missing"
