"""Each step sees the same observed state, and the desired state and context of the step before it."""

from __future__ import annotations

from base64 import b64encode

import pytest

from crossply.compose.errors import CredentialMissing, StepNotRun
from crossply.compose.function_messages import NO_STATE, SECOND, Request, Response, State, respond
from crossply.compose.wire_codec import decode_request, encode_request
from crossply.errors import CrossplyError
from crossply.kinds.composition import CredentialRef, ObjectRef
from tests.support.composition_platform import Platform, config_map, desires


def test_desired_state_accumulates_from_step_to_step(platform: Platform) -> None:
    first = platform.step("a", desires(x=config_map()))
    second = platform.step("b", desires(y=config_map()))
    rendered = platform.render([first, second])

    assert len(rendered.composed) == 2
    assert list(platform.calls[0][1].desired.resources) == []
    assert list(platform.calls[1][1].desired.resources) == ["x"]
    assert platform.calls[0][1].observed is platform.calls[1][1].observed


def test_a_function_that_drops_the_desired_state_drops_it_for_all(platform: Platform) -> None:
    first = platform.step("a", desires(x=config_map()))
    second = platform.step("b", lambda r: Response())
    assert platform.render([first, second]).composed == ()


def test_the_initial_context_goes_from_step_to_step(platform: Platform) -> None:
    step = platform.step("a", lambda r: respond(r, context={**(r.context or {}), "b": 2.0}))
    rendered = platform.render([step], context={"a": 1.0})
    assert rendered.context == {"a": 1.0, "b": 2.0}


def test_a_step_gets_its_input_with_numbers_as_doubles_and_the_same_object_every_time(
    platform: Platform,
) -> None:
    step = platform.step("a", respond, input={"kind": "Input", "n": 1})
    platform.render([step])
    assert platform.calls[0][1].input == {"kind": "Input", "n": 1.0}
    assert type(platform.calls[0][1].input["n"]) is float


def test_input_by_reference_is_read_from_the_world(platform: Platform) -> None:
    ref = ObjectRef("example.org/v1", "Input", "cool", "")
    platform.world = [
        {"apiVersion": "example.org/v1", "kind": "Input", "metadata": {"name": "cool"}, "spec": {"n": 1}}
    ]
    platform.render([platform.step("a", respond, input_ref=ref)])
    assert platform.calls[0][1].input["spec"] == {"n": 1.0}


def test_missing_input_by_reference_is_an_error_that_names_the_step(platform: Platform) -> None:
    ref = ObjectRef("example.org/v1", "Input", "cool", "")
    with pytest.raises(StepNotRun, match='step "a": Input "cool" not found'):
        platform.render([platform.step("a", respond, input_ref=ref)])


def test_only_the_step_that_names_a_secret_gets_its_data(platform: Platform) -> None:
    data = {"key": b64encode(b"s3cret").decode()}
    platform.secrets = [{"metadata": {"name": "sec", "namespace": "ns"}, "data": data}]
    credentials = (CredentialRef("creds", "Secret", "ns", "sec"), CredentialRef("none", "None", "", ""))
    platform.render([platform.step("a", respond, credentials=credentials), platform.step("b", respond)])

    assert platform.calls[0][1].credentials == {"creds": {"key": b"s3cret"}}
    assert platform.calls[1][1].credentials == {}


def test_a_missing_secret_is_an_error_that_names_step_and_credential(platform: Platform) -> None:
    step = platform.step("a", respond, credentials=(CredentialRef("creds", "Secret", "ns", "sec"),))
    with pytest.raises(CredentialMissing) as failure:
        platform.render([step])
    assert str(failure.value) == (
        'cannot compose resources: cannot get Composition pipeline step "a" credential "creds" from Secret: '
        'Secret "sec" not found'
    )


def test_a_function_that_cannot_be_called_is_an_error_with_its_own_code(platform: Platform) -> None:
    class Gone(CrossplyError):
        """A function that is not available."""

        code = "CP-3xx"

    def run(request: Request) -> Response:
        raise Gone("nobody there", hint="start it")

    with pytest.raises(StepNotRun) as failure:
        platform.render([platform.step("a", run)])
    assert str(failure.value).endswith('cannot run Composition pipeline step "a": nobody there')
    assert (failure.value.code, failure.value.hint) == ("CP-3xx", "start it")


def test_a_composed_resource_with_an_empty_name_is_rendered_as_it_is(platform: Platform) -> None:
    rendered = platform.render([platform.step("unnamed", desires(**{"": config_map()}))])
    [composed] = rendered.composed
    assert composed["metadata"]["annotations"] == {"crossplane.io/composition-resource-name": ""}


def test_the_shortest_time_to_live_counts(platform: Platform) -> None:
    steps = [
        platform.step("a", lambda r: respond(r, ttl=60 * SECOND)),
        platform.step("b", lambda r: respond(r, ttl=0)),
        platform.step("c", lambda r: respond(r, ttl=5 * SECOND)),
    ]
    platform.render(steps)
    assert platform.rendering.report.ttl == 5 * SECOND


def test_a_pipeline_starts_with_an_empty_desired_state_and_an_empty_context_on_the_wire(
    platform: Platform,
) -> None:
    platform.render([platform.step("a", lambda r: Response()), platform.step("b", respond)])
    first, second = (decode_request(encode_request(request)) for _, request in platform.calls)
    assert (first.desired, first.desired is NO_STATE, first.context) == (State(), False, {})
    assert (second.desired is NO_STATE, second.context) == (True, None), "what a function drops is absent"


def test_an_empty_answer_is_an_empty_state(platform: Platform) -> None:
    rendered = platform.render([platform.step("a", lambda r: Response(desired=State()))])
    assert rendered.context is None
    assert rendered.composite["status"]["conditions"][-1]["status"] == "True"
