"""The kit for providers: managed resources in Python.

    from dataclasses import dataclass
    from crossply.provider import Observation, managed

    @managed(group="files.example.org")
    class Note:
        @dataclass
        class Parameters:
            text: str

        def observe(self, ctx, params): ...
        def create(self, ctx, params): ...
        def update(self, ctx, params): ...
        def delete(self, ctx, params): ...

`declaration` reads such classes by `dataclass_fields` into a `ManagedKind`; `decode` turns JSON into its
dataclasses, `crd` describes it to an API server. `reconcile` decides what happens to a resource, and
`managed_reconciler` does it. Names are imported when they are used, so that a provider's modules load
quickly.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crossply.provider.context import Context
    from crossply.provider.credential_types import Credentials, SecretData
    from crossply.provider.declaration import managed, provider_config
    from crossply.provider.external_error import ExternalError
    from crossply.provider.field_annotations import (
        Doc,
        Immutable,
        JsonName,
        Maximum,
        MaxItems,
        MaxLength,
        Minimum,
        MinItems,
        MinLength,
        Pattern,
        Ref,
        SecretValue,
    )
    from crossply.provider.observation import ConnectionDetails, Observation

__all__ = [
    "ConnectionDetails",
    "Context",
    "Credentials",
    "Doc",
    "ExternalError",
    "Immutable",
    "JsonName",
    "MaxItems",
    "MaxLength",
    "Maximum",
    "MinItems",
    "MinLength",
    "Minimum",
    "Observation",
    "Pattern",
    "Ref",
    "SecretData",
    "SecretValue",
    "managed",
    "provider_config",
]

_MODULES = {
    "ConnectionDetails": "observation",
    "Context": "context",
    "Credentials": "credential_types",
    "ExternalError": "external_error",
    "Observation": "observation",
    "SecretData": "credential_types",
    "managed": "declaration",
    "provider_config": "declaration",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = __import__(f"{__name__}.{_MODULES.get(name, 'field_annotations')}", fromlist=(name,))
    value: object = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
