"""Kinds of the PostgreSQL provider without a control plane."""

from __future__ import annotations

from typing import Any

from provider_postgresql.connection_pool import Login
from provider_postgresql.server import Server

from crossply.provider import Context, Observation
from tests.support.postgresql_server import PostgresServer


def login_to(postgres: PostgresServer, username: str = "", password: str = "") -> Login:
    return Login(
        postgres.host,
        postgres.port,
        username or postgres.username,
        password or postgres.password,
        sslmode="disable",
    )


class External:
    """A managed resource without a control plane: observed and published values are stored here."""

    def __init__(self, cls: Any, server: Server, name: str, params: Any, publishes: bool = True) -> None:
        self.kind, self.params = cls(), params
        self.server, self.name = server, name
        self.published: dict[str, bytes] | None = {} if publishes else None
        self.observed: dict[str, Any] = {}

    def context(self) -> Context:
        annotations = {"crossplane.io/external-name": self.name}
        metadata = {"name": self.name, "namespace": "default", "annotations": annotations}
        resource = {"metadata": metadata, "status": {"atProvider": self.observed}}

        async def read_connection() -> dict[str, bytes] | None:
            return self.published

        return Context(resource, self.server, read_connection=read_connection)

    async def observe(self) -> Observation | None:
        observation: Observation | None = await self.kind.observe(self.context(), self.params)
        if observation is not None:
            self.publish(observation.connection)
            self.observed = dict(vars(observation.observed)) if observation.observed else {}
        return observation

    async def create(self) -> None:
        self.publish(await self.kind.create(self.context(), self.params))

    async def update(self) -> None:
        self.publish(await self.kind.update(self.context(), self.params))

    async def delete(self) -> None:
        await self.kind.delete(self.context(), self.params)

    def publish(self, details: Any) -> None:
        if self.published is not None:
            self.published |= {key: value.encode() for key, value in (details or {}).items()}

    async def settle(self) -> None:
        """Create or update it, and see that nothing is left to do."""
        await (self.create() if await self.observe() is None else self.update())
        assert not await self.differs()

    async def differs(self) -> bool:
        observation = await self.observe()
        assert observation is not None
        if observation.up_to_date is not None:
            return not observation.up_to_date
        return any(
            getattr(self.params, name) is not None and not _covers(value, getattr(self.params, name))
            for name, value in observation.actual.items()
        )

    async def remove(self) -> None:
        await self.delete()
        assert await self.observe() is None


def _covers(actual: Any, desired: Any) -> bool:
    if hasattr(desired, "__dataclass_fields__"):
        pairs = ((getattr(actual, name), value) for name, value in vars(desired).items())
        return all(value is None or value == other for other, value in pairs)
    return bool(actual == desired)
