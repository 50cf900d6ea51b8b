"""function-status-transformer: which hooks apply, and the conditions and events they set."""

from __future__ import annotations

import time
from typing import Any

import pytest

from crossply.compose.function_messages import (
    SEVERITY_NORMAL,
    SEVERITY_WARNING,
    STATUS_FALSE,
    STATUS_TRUE,
    STATUS_UNKNOWN,
    TARGET_COMPOSITE,
    TARGET_COMPOSITE_AND_CLAIM,
    Condition,
    Request,
    Resource,
    Response,
    Result,
    State,
)
from crossply.functions.builtin.status_transformer.function import run

ALL_WELL = Condition("StatusTransformationSuccess", STATUS_TRUE, "Available", None, TARGET_COMPOSITE)
CONDITION = {"condition": {"type": "Told", "status": "False", "reason": "Because"}}


def thing(*conditions: tuple[str, ...]) -> dict[str, Any]:
    names = ("type", "status", "reason", "message")
    return {"status": {"conditions": [dict(zip(names, condition, strict=False)) for condition in conditions]}}


OBSERVED = {
    "db-0": thing(("Ready", "False", "Creating", "waiting for disk sda"), ("Synced", "True", "Fine", "")),
    "db-1": thing(("Ready", "True", "Available"), ("Synced", "True", "Fine")),
    "web": thing(("Ready", "False", "Creating")),
    "odd": {"status": {"conditions": "none"}},
}


def transformed(*hooks: Any, **more: Any) -> Response:
    observed = {name: Resource(obj) for name, obj in OBSERVED.items()}
    composite = Resource(thing(("Synced", "False", "ReconcileError", "oh no")))
    step_input = {"statusConditionHooks": list(hooks)}
    return run(Request(State(composite, observed), State(), input=step_input, tag="t", **more))


def matcher(*names: str, conditions: Any = ({"type": "Ready", "status": "False"},), **more: Any) -> Any:
    return {"resources": [{"name": name} for name in names], "conditions": list(conditions), **more}


def applies(*matchers: Any, **more: Any) -> bool:
    answer = transformed({"matchers": list(matchers), "setConditions": [CONDITION]}, **more)
    assert answer.conditions[-1] == ALL_WELL
    return len(answer.conditions) == 2


NOT_READY, SYNCED = {"type": "Ready", "status": "False"}, {"type": "Synced", "status": "True"}


@pytest.mark.parametrize(
    ("matchers", "expected", "reason"),
    [
        ([matcher("web")], True, "the condition has the status"),
        ([matcher("db-1")], False, "it has another"),
        ([matcher("db-.*")], False, "all resources must match"),
        ([matcher("db-.*", type="AnyResourceMatchesAllConditions")], True, "unless one is enough"),
        ([matcher("web", conditions=[NOT_READY, SYNCED])], False, "and all conditions"),
        (
            [matcher("web", conditions=[NOT_READY, SYNCED], type="AllResourcesMatchAnyCondition")],
            True,
            "unless one of them is enough",
        ),
        (
            [matcher("db-1", "web", conditions=[NOT_READY, SYNCED], type="AnyResourceMatchesAllConditions")],
            False,
            "no resource has both",
        ),
        (
            [matcher("db-1", conditions=[NOT_READY, SYNCED], type="AnyResourceMatchesAnyCondition")],
            True,
            "any of any",
        ),
        ([matcher("b-0")], True, "a name is a pattern that may match a part"),
        ([matcher("nothing")], False, "no resource"),
        ([matcher("web", conditions=[])], False, "no condition"),
        ([], False, "no matcher"),
        ([matcher("web"), matcher("db-1")], False, "every matcher must match"),
        ([matcher("web", conditions=[{"type": "Ready", "reason": "Creating"}])], True, "by reason"),
        ([matcher("web", conditions=[{"type": "Ready", "reason": "Other"}])], False, "by another reason"),
        (
            [matcher("odd", conditions=[{"type": "Ready", "status": "Unknown"}])],
            False,
            "absent has no status",
        ),
        ([matcher("db-0", conditions=[{"type": "Ready", "message": "disk"}])], True, "by message"),
        ([matcher("db-0", conditions=[{"type": "Ready", "message": "^disk"}])], False, "by another message"),
        (
            [matcher(conditions=[{"type": "Synced", "status": "False"}], includeCompositeAsResource=True)],
            True,
            "the XR itself",
        ),
    ],
)
def test_a_hook_applies_when_its_matchers_match(matchers: list[Any], expected: bool, reason: str) -> None:
    assert applies(*matchers) == expected, reason


def test_extra_resources_can_be_matched_by_where_they_come_from() -> None:
    extra = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"namespace": "shop", "name": "web"},
        **thing(("Available", "True")),
    }
    context = {"apiextensions.crossplane.io/extra-resources": {"mine": [extra]}}
    expected = [{"type": "Available", "status": "True"}]
    name = r"extra-resource\.mine\.apps\.Deployment\.shop\.web"
    assert applies(matcher(name, conditions=expected, includeExtraResources=True), context=context)
    assert not applies(matcher(name, conditions=expected), context=context)


def test_the_groups_of_a_pattern_are_available_in_messages() -> None:
    captures = [{"type": "Ready", "message": "waiting for (?P<What>\\w+) (?P<Name>\\w+)"}]
    answer = transformed(
        {
            "matchers": [matcher("db-0", conditions=captures)],
            "setConditions": [
                {
                    "condition": {
                        "type": "DatabaseReady",
                        "status": "False",
                        "reason": "Waiting",
                        "message": "The {{ .What }} {{ .Name }} is not there.",
                    },
                    "target": "CompositeAndClaim",
                }
            ],
            "createEvents": [
                {"event": {"type": "Warning", "reason": "Slow", "message": "no {{ .What }}"}},
                {"event": {"message": "plain"}, "target": "Composite"},
            ],
        }
    )
    message = "The disk sda is not there."
    assert answer.conditions == (
        Condition("DatabaseReady", STATUS_FALSE, "Waiting", message, TARGET_COMPOSITE_AND_CLAIM),
        ALL_WELL,
    )
    assert answer.results == (
        Result(SEVERITY_WARNING, "no disk", "Slow", TARGET_COMPOSITE),
        Result(SEVERITY_NORMAL, "plain", None, TARGET_COMPOSITE),
    )


def test_a_message_without_captures_is_no_template() -> None:
    set_condition = {"condition": {**CONDITION["condition"], "status": "Maybe", "message": "{{ as it is"}}
    answer = transformed({"matchers": [matcher("web")], "setConditions": [set_condition]})
    assert answer.conditions[0] == Condition(
        "Told", STATUS_UNKNOWN, "Because", "{{ as it is", TARGET_COMPOSITE
    )


def test_the_first_hook_counts_unless_a_later_one_is_forceful() -> None:
    def hook(reason: str, **more: Any) -> Any:
        set_condition = {"condition": {**CONDITION["condition"], "reason": reason}, **more}
        return {"matchers": [matcher("web")], "setConditions": [set_condition]}

    answer = transformed(hook("First"), hook("Second"), hook("Third", force=True))
    assert [condition.reason for condition in answer.conditions] == ["First", "Third", "Available"]


CAPTURING = [{"type": "Ready", "message": "(?P<All>.*)"}]


@pytest.mark.parametrize(
    ("hook", "reason", "problem"),
    [
        (
            {"matchers": [matcher("(")]},
            "MatchFailure",
            "cannot match resources, statusConditionHookIndex: 0, matchConditionIndex: 0: cannot compile "
            "resource key regex, resourcesIndex: 0: error parsing regexp: missing closing ): `(`",
        ),
        (
            {"matchers": [matcher("web", conditions=[{"type": "Ready", "message": "["}])]},
            "MatchFailure",
            "cannot compile message regex: error parsing regexp",
        ),
        (
            {
                "matchers": [matcher("web", conditions=CAPTURING)],
                "setConditions": [{"condition": {**CONDITION["condition"], "message": "{{ .All"}}],
            },
            "SetConditionFailure",
            "cannot set condition, statusConditionHookIndex: 0, setConditionIndex: 0: cannot parse template: "
            "template: :1: unclosed action",
        ),
        (
            {"matchers": [matcher("web")], "createEvents": [{"event": {"type": "Loud", "message": "m"}}]},
            "SetConditionFailure",
            "cannot create event, statusConditionHookIndex: 0, createEventIndex: 0: invalid type Loud, must "
            "be one of [Normal, Warning]",
        ),
    ],
)
def test_errors_become_a_condition_and_the_pipeline_goes_on(hook: Any, reason: str, problem: str) -> None:
    answer = transformed(hook)
    assert answer.results == ()
    (failure,) = answer.conditions
    assert (failure.type, failure.status, failure.reason) == (ALL_WELL.type, STATUS_FALSE, reason)
    assert problem in (failure.message or "")


def test_an_unreadable_input_or_context_is_reported_too() -> None:
    answer = run(Request(State(), State(), input={"hooks": []}, tag="t"))
    assert answer.conditions[0].reason == "InputFailure"
    odd: dict[str, Any] = {"apiextensions.crossplane.io/extra-resources": {"mine": [1.0]}}
    hook = {"matchers": [matcher("x", includeExtraResources=True)]}
    answer = transformed(hook, context=odd)
    assert "unexpected extra-resources value type for mine [0]: float64" in (
        answer.conditions[0].message or ""
    )


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "a{1000}{1000}", "|".join(f"a{i}" for i in range(10_000)), "(a|aa)+b"]
)
def test_regex_bomb_a_hostile_pattern_is_linear_or_refused(pattern: str) -> None:
    OBSERVED["bomb"] = thing(("Ready", "False", "Creating", "a" * (1 << 20) + "!"))
    start = time.monotonic()
    try:
        transformed({"matchers": [matcher("bomb", conditions=[{"type": "Ready", "message": pattern}])]})
    finally:
        del OBSERVED["bomb"]
    assert time.monotonic() - start < 20


def test_tpl_loop_a_message_that_never_ends_is_stopped() -> None:
    set_condition = {
        "condition": {**CONDITION["condition"], "message": "{{ range 1000000000 }}{{ end }}{{ .All }}"}
    }
    answer = transformed(
        {
            "matchers": [matcher("web", conditions=CAPTURING)],
            "setConditions": [set_condition, set_condition, set_condition],
        }
    )
    assert all("takes longer" in (condition.message or "") for condition in answer.conditions)
    assert len(answer.conditions) == 3
