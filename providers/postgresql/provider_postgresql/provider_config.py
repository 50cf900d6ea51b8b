"""Where the PostgreSQL server is and who logs in to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from crossply.provider import Doc, ExternalError, JsonName, SecretData, provider_config

from .connection_pool import Login
from .server import Server, server_of

GROUP = "postgresql.crossply.dev"
VERSION = "v1alpha1"


@dataclass
class SecretKeyMapping:
    """Keys of the connection Secret, where they are not endpoint, port, username and password."""

    endpoint: str = "endpoint"
    port: str = "port"
    username: str = "username"
    password: str = "password"


@dataclass
class ConnectionCredentials:
    """The Secret with the keys endpoint, port, username and password."""

    connection: Annotated[SecretData, Doc("The connection Secret of the PostgreSQL server.")]
    source: Literal["PostgreSQLConnectionSecret"] = "PostgreSQLConnectionSecret"
    secret_key_mapping: SecretKeyMapping | None = None


@provider_config(group=GROUP, version=VERSION)
@dataclass
class ProviderConfig:
    """A PostgreSQL server, and the user that manages it."""

    credentials: ConnectionCredentials
    default_database: Annotated[str, Doc("The database to connect to for all that belongs to no other.")] = (
        "postgres"
    )
    ssl_mode: Annotated[
        Literal["disable", "prefer", "require", "verify-ca", "verify-full"],
        JsonName("sslMode"),
        Doc("How the server is reached: verify-full also checks its certificate and name."),
    ] = "verify-full"


def login_of(config: ProviderConfig) -> Login:
    """How to log in. Raises where the Secret lacks a key."""
    keys = config.credentials.secret_key_mapping or SecretKeyMapping()
    data = config.credentials.connection
    missing = [key for key in (keys.endpoint, keys.username, keys.password) if not data.get(key)]
    if missing:
        raise ExternalError(
            f"the connection Secret {data.name} has no {', '.join(missing)}",
            hint="add the keys, or name those that it has in spec.credentials.secretKeyMapping",
        )
    port = data.get(keys.port, b"").decode().strip() or "5432"
    if not port.isdecimal():
        raise ExternalError(
            f"the port in the connection Secret {data.name} is not a number",
            hint=f"correct its key {keys.port!r}",
        )
    return Login(
        host=data[keys.endpoint].decode().strip(),
        port=int(port),
        username=data[keys.username].decode(),
        password=data[keys.password].decode(),
        database=config.default_database,
        sslmode=config.ssl_mode,
    )


class OnServer:
    """What all kinds share: their client is the server of their ProviderConfig."""

    async def connect(self, config: ProviderConfig) -> Server:
        return server_of(login_of(config))
