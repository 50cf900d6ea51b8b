"""Several reconciles in a row: each finds what the one before left, and what happened in between."""

from __future__ import annotations

from tests.support.suite_folder import Folder

READY = {"conditions": [{"type": "Ready", "status": "True"}]}
NOT_READY = {"conditions": [{"type": "Ready", "status": "False"}]}


def test_desired_resources_are_observed_in_the_next_round(folder: Folder) -> None:
    folder.suite(
        {
            "name": "comes up",
            "rounds": [
                {"expect": NOT_READY},
                {"observe": [{"name": "bucket", "ready": True}], "expect": NOT_READY},
                {"observe": [{"name": "*", "ready": True}], "expect": {**READY, "unchanged": True}},
                {"observe": [{"name": "cdn", "ready": False}], "expect": NOT_READY},
            ],
        }
    )
    result = folder.run()
    assert result.code == 0, result.out


def test_statuses_stay_and_reach_the_composite_resource(folder: Folder) -> None:
    url = {"composite": {"status": {"url": "https://x"}}}
    folder.suite(
        {
            "name": "has a url",
            "rounds": [
                {"expect": {"composite": {"status": {"url": None}}}},
                {"observe": [{"name": "bucket", "status": {"url": "https://x"}}], "expect": url},
                {"expect": url},
            ],
        }
    )
    assert folder.run().code == 0


def test_a_change_of_the_composite_resource_changes_the_composed_ones(folder: Folder) -> None:
    def bucket(**spec: object) -> dict[str, object]:
        return {"resources": [{"name": "bucket", "object": {"spec": spec}}]}

    folder.suite(
        {
            "name": "grows",
            "rounds": [
                {"expect": bucket(size=3)},
                {"xrPatch": {"spec": {"size": 5}}, "expect": bucket(size=5)},
                {"xrPatch": {"spec": {"size": None}}, "expect": bucket(size=None)},
            ],
        }
    )
    result = folder.run()
    assert result.code == 0, result.out


def test_deleted_resources_are_recomposed_and_undesired_ones_deleted(folder: Folder) -> None:
    old = {
        "apiVersion": "example.org/v1",
        "kind": "Queue",
        "metadata": {
            "name": "old",
            "namespace": "team",
            "annotations": {"crossplane.io/composition-resource-name": "queue"},
        },
    }
    folder.suite(
        {
            "name": "goes",
            "observed": [old],
            "rounds": [
                {"expect": {"deleted": ["queue"], "absent": {"resources": ["queue"]}}},
                {
                    "observe": [{"name": "bucket", "gone": True}],
                    "expect": {"resources": [{"name": "bucket"}]},
                },
            ],
        }
    )
    result = folder.run()
    assert result.code == 0, result.out


def test_a_mismatch_names_its_round(folder: Folder) -> None:
    folder.suite({"name": "comes up", "rounds": [{"expect": NOT_READY}, {"expect": READY}]})
    result = folder.run()
    assert result.code == 1
    assert "round 2: condition Ready: status\n" in result.out


def test_the_composition_is_selected_in_the_first_round_only(folder: Folder) -> None:
    selected = [{"reason": "SelectComposition"}]
    folder.suite(
        {
            "name": "selects",
            "rounds": [{"expect": {"results": selected}}, {"expect": {"absent": {"results": selected}}}],
        }
    )
    assert folder.run().code == 0


def test_a_failed_round_leaves_the_state_unchanged(folder: Folder) -> None:
    folder.suite(
        {
            "name": "recovers",
            "rounds": [
                {"expect": NOT_READY},
                {
                    "xrPatch": {"spec": {"cdn": None}},
                    "observe": [{"name": "*", "ready": True}],
                    "expect": {"failure": "spec.cdn"},
                },
                {"xrPatch": {"spec": {"cdn": "big"}}, "expect": READY},
            ],
        }
    )
    result = folder.run()
    assert result.code == 0, result.out


def test_an_observation_of_a_resource_never_composed_breaks_the_case(folder: Folder) -> None:
    folder.suite({"name": "it", "observe": [{"name": "bucket", "ready": True}], "expect": READY})
    result = folder.run()
    assert result.code == 2
    assert 'nothing is observed of a composed resource "bucket"' in result.out
