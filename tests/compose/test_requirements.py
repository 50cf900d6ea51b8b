"""A function is called repeatedly until its requirements are fulfilled, with a limit."""

from __future__ import annotations

import pytest

from crossply.compose.effects import Call, FetchSchema
from crossply.compose.errors import (
    ExtraResourcesDisabled,
    RequirementRefused,
    RequirementsUnstable,
    StepFailed,
    TooManyRequirements,
)
from crossply.compose.function_messages import (
    CAPABILITIES,
    REQUIRED_RESOURCES,
    Request,
    Requirements,
    ResourceRef,
    ResourceSelector,
    Response,
    SchemaSelector,
    State,
    fatal,
    respond,
)
from crossply.compose.requirements import call_until_stable
from crossply.kinds.composition import ExtraResourceRule, ResourceRequirement, SchemaRequirement, Step
from crossply.values import Object
from tests.support.composition_platform import Platform


def thing(name: str, **labels: str) -> Object:
    return {"apiVersion": "v1", "kind": "Thing", "metadata": {"name": name, "labels": labels}}


def names_in(request: Request, requirement: str) -> list[str]:
    resources = request.required_resources[requirement]
    return [resource.object["metadata"]["name"] for resource in resources]


def wants(**selectors: ResourceSelector) -> Response:
    return Response(requirements=Requirements(resources=selectors))


def test_a_function_without_requirements_is_called_once(platform: Platform) -> None:
    platform.render([platform.step("s", respond)])
    assert len(platform.calls) == 1


def test_a_function_gets_its_required_resources_by_name_and_by_label(platform: Platform) -> None:
    platform.world = [thing("b", tier="x"), thing("a", tier="x"), thing("c")]

    def run(request: Request) -> Response:
        return respond(
            request,
            requirements=Requirements(
                resources={
                    "named": ResourceSelector("v1", "Thing", match_name="c"),
                    "labelled": ResourceSelector("v1", "Thing", match_labels={"tier": "x"}),
                    "all": ResourceSelector("v1", "Thing"),
                    "none": ResourceSelector("v1", "Thing", match_name="nope"),
                }
            ),
        )

    platform.render([platform.step("s", run)])
    assert len(platform.calls) == 2, "the second call has it all, and asks for the same"
    request = platform.calls[-1][1]
    assert names_in(request, "named") == ["c"]
    assert names_in(request, "labelled") == ["a", "b"], "sorted by namespace and name"
    assert names_in(request, "all") == ["a", "b", "c"]
    assert request.required_resources["none"] == (), "the key is there although nothing was found"


def test_the_deprecated_field_is_answered_in_the_deprecated_field(platform: Platform) -> None:
    platform.world = [thing("a")]
    requirements = Requirements(extra_resources={"x": ResourceSelector("v1", "Thing", match_name="a")})
    platform.render([platform.step("s", lambda r: respond(r, requirements=requirements))])
    assert len(platform.calls[-1][1].extra_resources["x"]) == 1


def test_the_next_call_has_the_functions_own_context_and_the_first_desired_state(platform: Platform) -> None:
    def run(request: Request) -> Response:
        count = (request.context or {}).get("count", 0.0) + 1.0
        selector = ResourceSelector("v1", "Thing", match_name="a")
        return respond(request, context={"count": count}, requirements=Requirements({"a": selector}))

    rendered = platform.render([platform.step("s", run)])
    assert rendered.context == {"count": 2.0}
    assert platform.calls[0][1].desired is platform.calls[1][1].desired
    assert platform.calls[0][1].tag == platform.calls[1][1].tag, "the tag is that of the first request"


def test_requirements_that_change_for_ever_end_in_an_error(platform: Platform) -> None:
    def run(request: Request) -> Response:
        return wants(**{f"r{len(platform.calls)}": ResourceSelector("v1", "Thing", match_name="x")})

    with pytest.raises(RequirementsUnstable, match=r"after the maximum number of iterations \(5\)"):
        platform.render([platform.step("s", run)])
    assert len(platform.calls) == 6


def test_a_step_may_have_a_limit_of_its_own(platform: Platform) -> None:
    def run(request: Request) -> Response:
        return wants(**{f"r{len(platform.calls)}": ResourceSelector("v1", "Thing", match_name="x")})

    with pytest.raises(RequirementsUnstable, match=r"\(1\)"):
        platform.render([platform.step("s", run, max_iterations=1)])
    assert len(platform.calls) == 2


@pytest.mark.parametrize("limit", [-1, 1_000_000])
def test_no_step_calls_its_function_more_than_a_hundred_times(platform: Platform, limit: int) -> None:
    def run(request: Request) -> Response:
        if len(platform.calls) > 200:
            return respond(request)
        return wants(**{f"r{len(platform.calls)}": ResourceSelector("v1", "Thing", match_name="x")})

    with pytest.raises(RequirementsUnstable, match=r"\(100\)"):
        platform.render([platform.step("s", run, max_iterations=limit)])
    assert len(platform.calls) == 101


def test_a_step_requires_a_thousand_things_and_no_more(platform: Platform) -> None:
    def asking(resources: int, schemas: int, watches: int) -> Response:
        selector = ResourceSelector("v1", "Thing", match_name="x")
        return Response(
            requirements=Requirements(
                resources={f"r{number}": selector for number in range(resources)},
                schemas={f"s{number}": SchemaSelector("v1", "Thing") for number in range(schemas)},
                watch_resources=tuple(ResourceRef("v1", "Thing", f"w{n}", "ns") for n in range(watches)),
            )
        )

    platform.render([platform.step("s", lambda _: asking(998, 1, 1))])
    for too_many in ((1001, 0, 0), (0, 1001, 0), (0, 0, 1001), (999, 1, 1)):
        with pytest.raises(TooManyRequirements, match='step "s" asks for 1001 '):
            platform.render([platform.step("s", lambda _, counts=too_many: asking(*counts))])


def test_watches_of_all_calls_of_a_step_count_together(platform: Platform) -> None:
    def run(request: Request) -> Response:
        call = len(platform.calls)
        requirements = Requirements(
            resources={f"r{call}": ResourceSelector("v1", "Thing", match_name="x")},
            watch_resources=tuple(ResourceRef("v1", "Thing", f"{call}-{n}", "ns") for n in range(400)),
        )
        return Response(requirements=requirements)

    with pytest.raises(TooManyRequirements):
        platform.render([platform.step("s", run)])
    assert len(platform.calls) == 3


def test_a_fatal_result_ends_the_loop_at_once(platform: Platform) -> None:
    def run(request: Request) -> Response:
        requirements = Requirements({"a": ResourceSelector("v1", "Thing", match_name="a")})
        return fatal(request, "no")._replace(requirements=requirements)

    with pytest.raises(StepFailed):
        platform.render([platform.step("s", run)])
    assert len(platform.calls) == 1


def test_bootstrap_requirements_need_no_second_call(platform: Platform) -> None:
    platform.world = [thing("a")]
    requirement = ResourceRequirement("a", "v1", "Thing", None, "a", None)
    same = Requirements({"a": ResourceSelector("v1", "Thing", match_name="a")})
    step = platform.step("s", lambda r: respond(r, requirements=same), required_resources=(requirement,))
    platform.render([step])
    assert len(platform.calls) == 1
    assert names_in(platform.calls[0][1], "a") == ["a"]


def test_schemas_are_resolved_by_kind_with_their_references(platform: Platform) -> None:
    kind = [{"group": "example.org", "version": "v1", "kind": "Thing"}]
    platform.schemas = [
        {
            "components": {
                "schemas": {
                    "Thing": {
                        "x-kubernetes-group-version-kind": kind,
                        "properties": {"spec": {"$ref": "#/components/schemas/Spec"}},
                    },
                    "Spec": {"type": "object", "properties": {"self": {"$ref": "#/components/schemas/Spec"}}},
                }
            }
        }
    ]
    requirements = Requirements(
        schemas={
            "known": SchemaSelector("example.org/v1", "Thing"),
            "unknown": SchemaSelector("example.org/v1", "Nope"),
        }
    )
    bootstrap = SchemaRequirement("given", "example.org/v1", "Thing")
    step = platform.step("s", lambda r: respond(r, requirements=requirements), required_schemas=(bootstrap,))
    platform.render([step])

    schemas = platform.calls[-1][1].required_schemas
    assert schemas["unknown"] is None
    assert schemas["known"]["properties"]["spec"] == {
        "type": "object",
        "properties": {"self": {"type": "object"}},
    }
    assert schemas["given"] == schemas["known"]


RULES = (
    ExtraResourceRule("v1", "Thing", "a-.*", None),
    ExtraResourceRule("v1", "Labelled", None, {"env": "(dev|qa)"}),
    ExtraResourceRule("v1", "Any", None, {"env": "*"}),
    ExtraResourceRule("v1", "Open", None, None),
)


@pytest.mark.parametrize(
    ("selector", "allowed", "reason"),
    [
        (ResourceSelector("v1", "Thing", match_name="a-1"), True, "the name matches"),
        (ResourceSelector("v1", "Thing", match_name="xa-1"), False, "a pattern matches the whole name"),
        (ResourceSelector("v1", "Thing"), False, "all of a kind is more than the rule allows"),
        (ResourceSelector("v1", "Labelled", match_labels={"env": "dev"}), True, "the label matches"),
        (ResourceSelector("v1", "Labelled", match_labels={"env": "prod"}), False, "another value"),
        (ResourceSelector("v1", "Labelled", match_labels={}), False, "no labels select everything"),
        (ResourceSelector("v1", "Any", match_labels={"env": "any"}), True, "a star matches any value"),
        (ResourceSelector("v1", "Open"), True, "a rule without name and labels allows the kind"),
        (ResourceSelector("v2", "Open"), False, "another version is another kind"),
    ],
)
def test_a_step_may_limit_the_requirements_of_its_function(
    platform: Platform, selector: ResourceSelector, allowed: bool, reason: str
) -> None:
    step = platform.step(
        "s", lambda r: respond(r, requirements=Requirements({"x": selector})), allowed_extra_resources=RULES
    )
    if allowed:
        platform.render([step])
        return
    with pytest.raises(RequirementRefused, match='cannot run Composition pipeline step "s"'):
        platform.render([step])
    assert len(platform.calls) == 1, reason


def ref(name: str) -> ResourceRef:
    return ResourceRef("v1", "Thing", name)


def test_watched_resources_are_collected_over_all_calls_and_steps(platform: Platform) -> None:
    platform.world = [thing("a"), thing("b")]

    def require(request: Request) -> Response:
        selectors = {"first": ResourceSelector("v1", "Thing", match_name="a")}
        if "first" not in request.required_resources:
            return respond(request, requirements=Requirements(selectors, watch_resources=(ref("a"),)))
        selectors["second"] = ResourceSelector("v1", "Thing", match_name="b")
        return respond(request, requirements=Requirements(selectors, watch_resources=(ref("b"),)))

    def watch(request: Request) -> Response:
        return respond(request, requirements=Requirements(watch_resources=(ref("c"), ref("a"))))

    rendered = platform.render([platform.step("require", require), platform.step("watch", watch)])
    listed = [{"apiVersion": "v1", "kind": "Thing", "name": name} for name in "abc"]
    assert rendered.composite["status"]["watchedResourceRefs"] == listed
    assert [step for step, _ in platform.calls] == ["require", "require", "require", "watch"]


def test_other_resources_to_watch_are_no_reason_for_another_call(platform: Platform) -> None:
    selectors = {"a": ResourceSelector("v1", "Thing", match_name="a")}

    def run(request: Request) -> Response:
        watched = (ref("a"),) if request.required_resources else ()
        return respond(request, requirements=Requirements(selectors, watch_resources=watched))

    platform.render([platform.step("s", run)])
    assert len(platform.calls) == 2


@pytest.mark.parametrize(
    ("watched", "allowed", "reason"),
    [
        (ResourceRef("v1", "Thing", "a-1"), True, "the name matches a rule"),
        (ResourceRef("v1", "Thing", "b"), False, "no rule allows the name"),
        (ResourceRef("v1", "Labelled", "sent"), True, "the function was sent it, as its labels allow"),
        (ResourceRef("v1", "Labelled", "other"), False, "nobody knows its labels"),
    ],
)
def test_a_function_may_watch_its_permitted_and_received_resources(
    platform: Platform, watched: ResourceRef, allowed: bool, reason: str
) -> None:
    platform.world = [{**thing("sent", env="dev"), "kind": "Labelled"}]
    selectors = {"x": ResourceSelector("v1", "Labelled", match_labels={"env": "dev"})}

    def run(request: Request) -> Response:
        refs = (watched,) if request.required_resources else ()
        return respond(request, requirements=Requirements(selectors, watch_resources=refs))

    step = platform.step("s", run, allowed_extra_resources=RULES)
    if allowed:
        platform.render([step])
        return
    with pytest.raises(RequirementRefused, match=r"does not allow its function to watch (Thing|Labelled)"):
        platform.render([step])


WITHOUT_RESOURCES = tuple(capability for capability in CAPABILITIES if capability != REQUIRED_RESOURCES)


@pytest.mark.parametrize("field", ["resources", "extra_resources"])
def test_a_function_that_requires_disabled_resources_fails_before_anything_is_decided(field: str) -> None:
    requirements = Requirements(**{field: {"a": ResourceSelector("v1", "Thing", match_name="a")}})
    request = Request(State(), capabilities=WITHOUT_RESOURCES)
    work = call_until_stable(Step("s", "f"), request)
    assert isinstance(next(work), Call)
    with pytest.raises(ExtraResourcesDisabled, match="--enable-composition-functions-extra-resources=false"):
        work.send(Response(requirements=requirements))


def test_schemas_are_sent_where_resources_are_disabled() -> None:
    requirements = Requirements(schemas={"a": SchemaSelector("v1", "Thing")}, watch_resources=(ref("a"),))
    request = Request(State(), capabilities=WITHOUT_RESOURCES)
    work = call_until_stable(Step("s", "f"), request)
    next(work)
    assert isinstance(work.send(Response(requirements=requirements)), FetchSchema)
    next_call = work.send({"type": "object"})
    assert isinstance(next_call, Call)
    assert next_call.request.required_schemas == {"a": {"type": "object"}}
    with pytest.raises(StopIteration) as end:
        work.send(Response(requirements=requirements))
    assert end.value.value.requirements == Requirements(schemas=requirements.schemas), (
        "nothing is watched either"
    )
