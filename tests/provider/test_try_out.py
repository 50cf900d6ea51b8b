"""The test harness for kinds finds what a crash breaks, and passes what survives it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from crossply.provider import Context, ExternalError, Observation, Ref, SecretValue, managed
from crossply.provider.try_out import ExternalSystem, Report, try_out

GROUP = "shop.example.org"


@dataclass
class Label:
    text: str
    token: SecretValue | None = None


@managed(group=GROUP)
class Cabinet:
    """A kind that survives everything; others below do one thing wrong."""

    @dataclass
    class Parameters:
        size: int = 1
        owner: Ref[Cabinet] | None = None
        colour: str | None = None
        password: SecretValue | None = None
        labels: list[Label] = field(default_factory=list)

    @dataclass
    class Observed:
        size: int

    def observe(self, ctx: Context, params: Parameters) -> Observation | None:
        cabinet = ctx.client.get(ctx.external_name)
        if cabinet is None:
            return None
        return Observation(
            observed=self.Observed(cabinet["size"]),
            actual={"size": cabinet["size"], "colour": "white", "password": cabinet["password"]},
            connection={"name": ctx.external_name},
        )

    def create(self, ctx: Context, params: Parameters) -> Any:
        ctx.client.create(ctx.external_name, size=params.size, password=params.password)
        return {"owner": params.owner or "", "token": params.labels[0].token if params.labels else ""}

    def update(self, ctx: Context, params: Parameters) -> Any:
        ctx.client.update(ctx.external_name, size=params.size, password=params.password)

    def delete(self, ctx: Context, params: Parameters) -> None:
        ctx.client.delete(ctx.external_name)


def tried(cls: type, **options: Any) -> Report:
    kind = managed(group=GROUP, kind="Cabinet")(cls)
    return try_out(kind, {"size": 2}, changes=[{"size": 3}], **{"client": ExternalSystem, **options})


def test_a_kind_that_survives_every_crash_passes():
    report = tried(Cabinet, drift=lambda client: client.update("example", size=9))
    report.check()
    assert report.runs == len(report.points) > 60
    assert "after client.create" in report.points
    assert report.status["atProvider"] == {"size": 3}
    assert report.spec["forProvider"]["colour"] == "white", "late initialised"
    assert [event.reason for event in report.events].count("DriftDetected") == 1
    assert report.names == ["example"]


def test_values_of_references_and_secrets_are_passed_as_they_are():
    params = Cabinet.Parameters(
        owner=Ref("other"), password=SecretValue("geheim"), labels=[Label("a", SecretValue("t"))]
    )
    report = try_out(Cabinet, params, client=ExternalSystem, crashes=False)
    report.check()
    assert report.connection == {"name": b"example", "owner": b"other", "token": b"t"}


class ForgetfulCabinet(Cabinet):
    """The system chooses the name, which is lost in a crash."""

    def create(self, ctx: Context, params: Any) -> None:
        ctx.external_name = ctx.client.add(size=params.size, password=None)


def test_a_name_that_is_lost_in_a_crash_is_a_thing_created_twice():
    report = tried(ForgetfulCabinet)
    assert "creation: 2 things exist instead of 1: id-1, id-2, after a crash after Create (1st time)" in (
        report.problems
    )
    assert all("crash before Create" not in problem for problem in report.problems)


def test_a_kind_without_deterministic_names_needs_a_person_instead():
    kind = managed(group=GROUP, kind="Cabinet", deterministic_external_name=False)(
        type("Cabinet", (ForgetfulCabinet,), {})
    )
    report = try_out(kind, {}, client=ExternalSystem)
    report.check()
    assert "crash after Create (1st time)" in report.blocked


class TwoStepCabinet(Cabinet):
    """Creation has two steps, and cannot be repeated after the first."""

    def observe(self, ctx: Context, params: Any) -> Observation | None:
        return None if ctx.client.get("door") is None else super().observe(ctx, params)

    def create(self, ctx: Context, params: Any) -> None:
        ctx.client.create(ctx.external_name, size=params.size, password=None)
        ctx.client.create("door")

    def delete(self, ctx: Context, params: Any) -> None:
        ctx.client.delete(ctx.external_name)
        ctx.client.delete("door")


def test_a_crash_between_two_calls_of_the_client_is_tried():
    report = tried(TwoStepCabinet)
    assert (
        "creation: create failed: example exists already, after a crash after client.create (1st time)"
        in report.problems
    )
    assert (
        "deletion: observe failed: 'NoneType' object is not subscriptable" in repr(report).replace("\n", " ")
        or report.problems
    )


class UnsettledCabinet(Cabinet):
    def update(self, ctx: Context, params: Any) -> None:
        ctx.client.update(ctx.external_name, size=params.size + 1)


def test_an_update_without_effect_is_reported():
    report = tried(UnsettledCabinet)
    with pytest.raises(AssertionError, match="update is called again and again"):
        report.check()
    assert "change 1: update is called again and again" in report.problems[0]
    assert "size" in report.problems[0]


class BlindCabinet(Cabinet):
    def observe(self, ctx: Context, params: Any) -> Observation | None:
        return Observation() if ctx.client.get(ctx.external_name) else None


def test_undetected_drift_is_reported():
    report = tried(BlindCabinet, drift=lambda client: client.update("example", size=9))
    assert "drift: it is not noticed" in report.problems[0]


class LeakingCabinet(Cabinet):
    def create(self, ctx: Context, params: Any) -> None:
        ctx.client.create("door")
        ctx.client.create(ctx.external_name, size=params.size, password=None)


def test_a_leaked_external_resource_is_reported():
    assert "deletion: left behind: door" in tried(LeakingCabinet).problems


class BusyCabinet(Cabinet):
    observations = 0

    def observe(self, ctx: Context, params: Any) -> Observation | None:
        self.observations += 1
        observation = super().observe(ctx, params)
        return observation and Observation(
            observed=self.Observed(self.observations), actual=observation.actual
        )


def test_writes_of_a_settled_resource_are_reported():
    assert "each reconcile writes: WriteStatus" in tried(BusyCabinet).problems[0]


class FailingCabinet(Cabinet):
    def create(self, ctx: Context, params: Any) -> None:
        raise ExternalError("no room", hint="clear a wall")


def test_a_failure_is_shown_as_users_would_see_it():
    report = tried(FailingCabinet)
    assert report.problems == ["creation: create failed: no room (clear a wall)"]
    assert repr(report) == "Cabinet: 1 problems in 0 runs with a crash\n- " + report.problems[0]


class AsyncClient:
    def __init__(self, system: ExternalSystem) -> None:
        self._system = system

    async def put(self, name: str, size: int) -> None:
        self._system.delete(name)
        self._system.create(name, size=size)

    async def size(self, name: str) -> int | None:
        return (self._system.get(name) or {}).get("size")

    async def drop(self, name: str) -> None:
        self._system.delete(name)


@managed(group=GROUP)
class AsyncCabinet:
    @dataclass
    class Parameters:
        size: int

    closed = 0

    async def connect(self, config: ExternalSystem) -> AsyncClient:
        return AsyncClient(config)

    async def disconnect(self, client: AsyncClient) -> None:
        type(self).closed += 1

    async def observe(self, ctx: Context, params: Parameters) -> Observation | None:
        size = await ctx.client.size(ctx.external_name)
        return None if size is None else Observation(actual={"size": size})

    async def create(self, ctx: Context, params: Parameters) -> None:
        await ctx.client.put(ctx.external_name, params.size)

    async def update(self, ctx: Context, params: Parameters) -> None:
        await ctx.client.put(ctx.external_name, params.size)

    async def delete(self, ctx: Context, params: Parameters) -> None:
        await ctx.client.drop(ctx.external_name)


async def test_asynchronous_kinds_connect_by_a_config_also_in_a_test_that_is_a_coroutine():
    system = ExternalSystem()
    report = try_out(
        AsyncCabinet, {"size": 1}, changes=[{"size": 2}], config=system, existing=lambda _: system.names()
    )
    report.check()
    assert AsyncCabinet.closed > report.runs


class ChangedPasswordCabinet(Cabinet):
    """Compares the published password with the one outside, as kinds that generate one do."""

    async def observe(self, ctx: Context, params: Any) -> Observation | None:  # type: ignore[override]
        cabinet = ctx.client.get(ctx.external_name)
        if cabinet is None:
            return None
        published = await ctx.connection_details()
        return Observation(up_to_date=(published or {}).get("size") == str(cabinet["size"]).encode())

    def create(self, ctx: Context, params: Any) -> Any:
        super().create(ctx, params)
        return {"size": str(params.size)}

    def update(self, ctx: Context, params: Any) -> Any:
        super().update(ctx, params)
        return {"size": str(params.size)}


def test_kinds_can_read_their_published_details():
    kind = managed(group=GROUP, kind="Cabinet")(ChangedPasswordCabinet)
    report = try_out(kind, {"size": 2}, client=ExternalSystem, drift=lambda c: c.update("example", size=9))
    report.check()
    assert report.connection["size"] == b"2"
