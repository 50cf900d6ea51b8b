"""Which revision of a function a step calls, and who is woken when that is another one."""

from __future__ import annotations

import pytest

from crossply.control.calls.choosing import Choices
from crossply.control.calls.following import Callers
from crossply.functions.failures import FunctionNotBound
from crossply.kinds.composition import Step
from tests.support.control.function_revisions import revision

NONE_ACTIVE = (
    'cannot get gRPC client connection for Function "f": cannot find an active FunctionRevision '
    "(a FunctionRevision with spec.desiredState: Active)"
)


def function(package="xpkg.example.org/o/function-auto-ready:v1", name="f", **annotations):
    metadata = {"name": name, "annotations": {key.replace("_", "/"): v for key, v in annotations.items()}}
    return {"kind": "Function", "metadata": metadata, "spec": {"package": package}}


def choices(*revisions, rollout=True):
    made = Choices(rollout)
    for each in revisions:
        made.put_revision(each)
    return made


def called(made, **step):
    return made.choose(made.wanted(Step("s", "f", **step))).revision


BOTH = [revision(1, channel="stable"), revision(2, channel="alpha")]
STABLE = {"function_revision_selector": {"channel": "stable"}}

CHOSEN = {
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


@pytest.mark.parametrize(("revisions", "step", "expected"), CHOSEN.values(), ids=CHOSEN)
def test_a_step_calls(revisions, step, expected):
    assert called(choices(*revisions), **step) == expected


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


@pytest.mark.parametrize(("revisions", "step", "told"), REFUSED.values(), ids=REFUSED)
def test_a_step_fails_where(revisions, step, told):
    with pytest.raises(FunctionNotBound) as refused:
        called(choices(*revisions), **step)
    assert told in str(refused.value)


def test_without_the_feature_what_a_step_says_about_revisions_does_not_count():
    assert called(choices(*BOTH, rollout=False), **STABLE) == "f-2"


def test_a_function_that_needs_no_package_is_called_before_it_has_a_revision_and_not_otherwise_after():
    made = choices()
    made.put(function())
    direct = made.choose(made.wanted(Step("s", "f")))
    made.put_revision({**revision(1, endpoint=""), "spec": {**revision(1)["spec"], "image": direct.image}})
    assert made.choose(made.wanted(Step("s", "f"))) == direct


def test_a_function_that_has_revisions_is_called_by_them_only():
    made = choices(revision(1, active=False))
    made.put(function())
    with pytest.raises(FunctionNotBound):
        called(made)


def test_a_function_that_needs_a_package_is_not_called_before_it_has_a_revision():
    made = choices()
    made.put(function("xpkg.example.org/o/function-of-ours:v1"))
    with pytest.raises(FunctionNotBound):
        called(made)


def running(number, said="True", **fields):
    """A revision of which somebody says whether it runs."""
    made = revision(number, **fields)
    made["status"]["conditions"] = [{"type": "RuntimeHealthy", "status": said, "reason": "Any"}]
    return made


def test_a_new_revision_is_not_called_before_it_runs_while_another_does():
    made = choices(running(1))
    made.put_revision(revision(2, endpoint=""), is_new=True)
    assert called(made) == "f-1"
    made.put_revision(running(2, "False"))
    assert called(made) == "f-1"
    made.put_revision(running(2))
    assert called(made) == "f-2"
    made.put_revision(running(2, "False"))
    assert called(made) == "f-2", "what did run and does not at the moment is waited for"


def test_a_new_revision_is_called_at_once_where_there_is_no_other():
    made = choices()
    made.put_revision(running(1, "False"), is_new=True)
    assert called(made) == "f-1"


def test_a_new_revision_that_somebody_else_runs_is_called_as_soon_as_it_has_an_endpoint():
    made = choices(revision(1))
    made.put_revision(revision(2), is_new=True)
    assert called(made) == "f-2"


def test_a_revision_that_is_active_again_is_not_called_before_it_runs_again():
    made = choices(running(1, active=False), running(2))
    again = running(1)
    again["spec"]["revision"], again["metadata"]["generation"] = 3, 2
    again["status"]["conditions"][0]["observedGeneration"] = 1
    made.put_revision(again)
    assert called(made) == "f-2", "that it runs was said before it rested"
    again["status"]["conditions"][0]["observedGeneration"] = 2
    made.put_revision(again)
    assert called(made) == "f-1"


def test_what_is_there_when_we_begin_is_not_doubted():
    assert called(choices(running(1), running(2, "False"))) == "f-2"


CAPABLE = {
    "one that does not say": (None, ""),
    "one that says so": (["composition"], ""),
    "one that spells it otherwise": (["Com-position"], ""),
    "one that can do something else": (["operation"], "f-1"),
    "one that can do nothing": ([], "f-1"),
}


@pytest.mark.parametrize(("said", "expected"), CAPABLE.values(), ids=CAPABLE)
def test_a_pipeline_may_have(said, expected):
    made = choices(revision(1, capabilities=said))
    assert made.lacking(made.wanted(Step("s", "f")), "composition") == expected


class Woken(list):
    """Notes who is woken."""

    def waking(self, who):
        return lambda: self.append(who)


@pytest.fixture
def world():
    made = choices(*BOTH)
    return made, Callers(made), Woken()


def test_only_who_calls_the_changed_revision_is_woken(world):
    made, callers, woken = world
    selects = Step("s", "f", **STABLE)
    callers.follow("stable", (selects,), woken.waking("stable"))
    callers.follow("newest", (Step("s", "f"),), woken.waking("newest"))
    callers.follow("other", (Step("s", "other"),), woken.waking("other"))
    for changed in (revision(3, channel="alpha"), revision(3, channel="alpha", active=False)):
        woken.clear()
        for name in made.put_revision(changed):
            callers.changed(name)
        assert woken == ["newest"]


def test_a_change_that_changes_no_call_wakes_nobody(world):
    made, callers, woken = world
    callers.follow("newest", (Step("s", "f"),), woken.waking("newest"))
    made.put_revision(revision(2, channel="beta"))
    made.put_revision(revision(1, active=False))
    callers.changed("f")
    assert woken == []


def test_a_new_endpoint_and_the_end_of_all_revisions_wake_who_calls_them(world):
    made, callers, woken = world
    callers.follow("mine", (Step("s", "f"),), woken.waking("mine"))
    for change in (
        lambda: made.put_revision(revision(2, endpoint="dns:///elsewhere:9443")),
        lambda: made.remove_revision("f-2"),
        lambda: made.remove_revision("f-1"),
        lambda: made.put_revision(revision(4)),
    ):
        woken.clear()
        change()
        callers.changed("f")
        assert woken == ["mine"]


def test_who_calls_something_else_now_or_is_gone_is_not_woken(world):
    made, callers, woken = world
    callers.follow("mine", (Step("s", "f"),), woken.waking("mine"))
    callers.follow("gone", (Step("s", "f"),), woken.waking("gone"))
    callers.follow("mine", (Step("s", "other"),), woken.waking("mine"))
    callers.forget("gone")
    made.put_revision(revision(5))
    callers.changed("f")
    assert woken == []
