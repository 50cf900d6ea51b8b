"""Which revision of a function a step calls, and which callers are enqueued when that changes."""

from __future__ import annotations

import pytest

from crossply.control.calls.callers_by_function import FunctionCallers
from crossply.control.calls.revision_selection import RevisionSelection
from crossply.functions.failures import FunctionNotBound
from crossply.kinds.composition import Step
from tests.support.control.function_revisions import revision

NONE_ACTIVE = (
    'cannot get gRPC client connection for Function "f": cannot find an active FunctionRevision '
    "(a FunctionRevision with spec.desiredState: Active)"
)


def function(package="xpkg.example.org/crossplane-contrib/function-auto-ready:v1", name="f", **annotations):
    metadata = {"name": name, "annotations": {key.replace("_", "/"): v for key, v in annotations.items()}}
    return {"kind": "Function", "metadata": metadata, "spec": {"package": package}}


def selecting(*revisions, rollout=True):
    selection = RevisionSelection(rollout)
    for known in revisions:
        selection.put_revision(known)
    return selection


def called(selection, **step):
    return selection.select(selection.reference(Step("s", "f", **step))).revision


BOTH = [revision(1, channel="stable"), revision(2, channel="alpha")]
STABLE = {"function_revision_selector": {"channel": "stable"}}

SELECTED = {
    "the only one": ([revision(1)], {}, "f-1"),
    "the highest-numbered active one": ([revision(1), revision(3, active=False), revision(2)], {}, "f-2"),
    "the one it names, whatever is newer": (BOTH, {"function_revision_ref": "f-1"}, "f-1"),
    "one with the labels it selects": (BOTH, STABLE, "f-1"),
    "the newest of several with these labels": (
        [*BOTH, revision(3, channel="stable")],
        STABLE,
        "f-3",
    ),
    "an empty selector selects all": (BOTH, {"function_revision_selector": {}}, "f-2"),
    "never one of another function": ([revision(1), revision(9, package="other")], {}, "f-1"),
    "the one before, while a new one has no endpoint yet": (
        [revision(1), revision(2, endpoint="")],
        {},
        "f-1",
    ),
}


@pytest.mark.parametrize(("revisions", "step", "expected"), SELECTED.values(), ids=SELECTED)
def test_a_step_calls(revisions, step, expected):
    assert called(selecting(*revisions), **step) == expected


REFUSED = {
    "nothing is installed": ([], {}, NONE_ACTIVE),
    "nothing is active": ([revision(1, active=False)], {}, NONE_ACTIVE),
    "nothing active has the labels": (
        [revision(1, channel="stable", active=False), revision(2, channel="alpha")],
        STABLE,
        f"{NONE_ACTIVE} with the labels channel=stable",
    ),
    "the one it names is not active": (
        [revision(1, active=False), revision(2)],
        {"function_revision_ref": "f-1"},
        f'{NONE_ACTIVE} that is called "f-1"',
    ),
    "the one it names is another function's": (
        [revision(1, package="other"), revision(2)],
        {"function_revision_ref": "other-1"},
        'functionrevisions.pkg.crossplane.io "other-1" not found',
    ),
    "it has no endpoint": (
        [revision(1, endpoint="")],
        {},
        'cannot determine gRPC target: active FunctionRevision "f-1" has an empty status.endpoint',
    ),
}


@pytest.mark.parametrize(("revisions", "step", "message"), REFUSED.values(), ids=REFUSED)
def test_a_step_fails_where(revisions, step, message):
    with pytest.raises(FunctionNotBound) as refused:
        called(selecting(*revisions), **step)
    assert message in str(refused.value)


def test_without_the_feature_the_revision_selector_of_a_step_is_ignored():
    assert called(selecting(*BOTH, rollout=False), **STABLE) == "f-2"


def test_a_function_that_needs_no_package_is_called_before_it_has_a_revision_and_not_otherwise_after():
    selection = selecting()
    selection.put(function())
    direct = selection.select(selection.reference(Step("s", "f")))
    selection.put_revision(
        {**revision(1, endpoint=""), "spec": {**revision(1)["spec"], "image": direct.image}}
    )
    assert selection.select(selection.reference(Step("s", "f"))) == direct


def test_a_function_that_has_revisions_is_called_by_them_only():
    selection = selecting(revision(1, active=False))
    selection.put(function())
    with pytest.raises(FunctionNotBound):
        called(selection)


def test_a_function_that_needs_a_package_is_not_called_before_it_has_a_revision():
    selection = selecting()
    selection.put(function("xpkg.example.org/o/function-of-ours:v1"))
    with pytest.raises(FunctionNotBound):
        called(selection)


def running(number, status="True", **fields):
    """A revision with a health condition."""
    selection = revision(number, **fields)
    selection["status"]["conditions"] = [{"type": "RuntimeHealthy", "status": status, "reason": "Any"}]
    return selection


def test_a_new_revision_is_not_called_before_it_runs_while_another_does():
    selection = selecting(running(1))
    selection.put_revision(revision(2, endpoint=""), is_new=True)
    assert called(selection) == "f-1"
    selection.put_revision(running(2, "False"))
    assert called(selection) == "f-1"
    selection.put_revision(running(2))
    assert called(selection) == "f-2"
    selection.put_revision(running(2, "False"))
    assert called(selection) == "f-2", "what did run and does not at the moment is waited for"


def test_a_new_revision_is_called_at_once_where_there_is_no_other():
    selection = selecting()
    selection.put_revision(running(1, "False"), is_new=True)
    assert called(selection) == "f-1"


def test_a_new_revision_with_a_foreign_runtime_is_called_as_soon_as_it_has_an_endpoint():
    selection = selecting(revision(1))
    selection.put_revision(revision(2), is_new=True)
    assert called(selection) == "f-2"


def test_a_reactivated_revision_is_not_called_before_it_runs():
    selection = selecting(running(1, active=False), running(2))
    restarted = running(1)
    restarted["spec"]["revision"], restarted["metadata"]["generation"] = 3, 2
    restarted["status"]["conditions"][0]["observedGeneration"] = 1
    selection.put_revision(restarted)
    assert called(selection) == "f-2", "that it runs was said before it rested"
    restarted["status"]["conditions"][0]["observedGeneration"] = 2
    selection.put_revision(restarted)
    assert called(selection) == "f-1"


def test_a_revision_that_exists_at_the_start_counts_as_healthy():
    assert called(selecting(running(1), running(2, "False"))) == "f-2"


CAPABLE = {
    "one that does not say": (None, None),
    "one that says so": (["composition"], None),
    "one that spells it otherwise": (["Com-position"], None),
    "one that can do something else": (["operation"], "f-1"),
    "one that can do nothing": ([], "f-1"),
}


@pytest.mark.parametrize(("capabilities", "expected"), CAPABLE.values(), ids=CAPABLE)
def test_a_pipeline_may_have(capabilities, expected):
    selection = selecting(revision(1, capabilities=capabilities))
    assert selection.revision_without(selection.reference(Step("s", "f")), "composition") == expected


class Queue(list):
    """The callers that were enqueued."""

    def adding(self, caller):
        return lambda: self.append(caller)


@pytest.fixture
def registered():
    selection = selecting(*BOTH)
    return selection, FunctionCallers(selection), Queue()


def test_only_callers_of_the_changed_revision_are_enqueued(registered):
    selection, callers, queue = registered
    selects = Step("s", "f", **STABLE)
    callers.register("stable", (selects,), queue.adding("stable"))
    callers.register("newest", (Step("s", "f"),), queue.adding("newest"))
    callers.register("other", (Step("s", "other"),), queue.adding("other"))
    for changed in (revision(3, channel="alpha"), revision(3, channel="alpha", active=False)):
        queue.clear()
        for name in selection.put_revision(changed):
            callers.function_changed(name)
        assert queue == ["newest"]


def test_a_change_without_another_endpoint_enqueues_nothing(registered):
    selection, callers, queue = registered
    callers.register("newest", (Step("s", "f"),), queue.adding("newest"))
    selection.put_revision(revision(2, channel="beta"))
    selection.put_revision(revision(1, active=False))
    callers.function_changed("f")
    assert queue == []


def test_a_new_endpoint_and_the_end_of_all_revisions_enqueue_the_callers(registered):
    selection, callers, queue = registered
    callers.register("mine", (Step("s", "f"),), queue.adding("mine"))
    for change in (
        lambda: selection.put_revision(revision(2, endpoint="dns:///elsewhere:9443")),
        lambda: selection.remove_revision("f-2"),
        lambda: selection.remove_revision("f-1"),
        lambda: selection.put_revision(revision(4)),
    ):
        queue.clear()
        change()
        callers.function_changed("f")
        assert queue == ["mine"]


def test_a_composite_that_calls_another_function_or_is_gone_is_not_enqueued(registered):
    selection, callers, queue = registered
    callers.register("mine", (Step("s", "f"),), queue.adding("mine"))
    callers.register("gone", (Step("s", "f"),), queue.adding("gone"))
    callers.register("mine", (Step("s", "other"),), queue.adding("mine"))
    callers.unregister("gone")
    selection.put_revision(revision(5))
    callers.function_changed("f")
    assert queue == []
