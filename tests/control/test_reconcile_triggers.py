"""What is recorded as the reason of a run."""

from __future__ import annotations

from crossply.control.composites.composite_writes import FINALIZER
from crossply.control.composites.reconcile_reasons import DEFINITION_CHANGED, Triggers

KEY = ("default", "one")


def test_a_restarted_controller_records_a_trigger() -> None:
    new = {"metadata": {"name": "one", "namespace": "default", "uid": "u"}}
    known = {"metadata": {**new["metadata"], "finalizers": [FINALIZER]}}
    assert Triggers().take(KEY, known) == ("control plane started",)
    assert Triggers(DEFINITION_CHANGED).take(KEY, known) == ("definition changed",)
    assert Triggers(DEFINITION_CHANGED).take(KEY, new) == ("created",)
