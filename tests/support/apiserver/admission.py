"""A world with admission and a webhook server, and short ways to configure both."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from crossply.apiserver.admission.chain import Admission
from crossply.apiserver.endpoints.status_errors import StatusError
from tests.support.apiserver.store_bench import Bench, bench
from tests.support.apiserver.webhook_server import WebhookServer, webhook_server

RULE = {
    "apiGroups": ["example.org"],
    "apiVersions": ["v1"],
    "operations": ["*"],
    "resources": ["widgets"],
}


class Setting(Bench):
    """A client of a world in which admission can be configured."""

    def __init__(self, built: Bench, server: WebhookServer) -> None:
        super().__init__(built.context)
        self.server = server

    async def mutating(self, name: str, *hooks: dict[str, Any]) -> None:
        await self.create("mutatingwebhookconfigurations", "", name, webhooks=list(hooks))

    async def validating(self, name: str, *hooks: dict[str, Any]) -> None:
        await self.create("validatingwebhookconfigurations", "", name, webhooks=list(hooks))

    async def policy(self, name: str, *validations: Any, binding: Any = None, **spec: Any) -> None:
        demanded = [{"expression": v} if isinstance(v, str) else v for v in validations]
        spec = {"matchConstraints": {"resourceRules": [RULE]}, "validations": demanded, **spec}
        await self.create("validatingadmissionpolicies", "", name, spec=spec)
        bound = {"policyName": name, "validationActions": ["Deny"], **(binding or {})}
        await self.create("validatingadmissionpolicybindings", "", f"{name}-binding", spec=bound)

    def hook(self, path: str, answer: Any, **more: Any) -> dict[str, Any]:
        return {
            "name": f"{path.strip('/')}.example.org",
            "clientConfig": self.server.on(path, answer),
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "timeoutSeconds": 5,
            "rules": [RULE],
            **more,
        }


@asynccontextmanager
async def setting(directory: Path, authorize: Any = None) -> AsyncIterator[Setting]:
    """A world with the namespaces default and kube-system, and a webhook server."""
    async with bench() as built, webhook_server(directory, "hooks.default.svc") as server:
        for name in ("default", "kube-system"):
            await built.create("namespaces", "", name)
        admission = Admission(built.context, authorize)
        built.context.admission = admission
        try:
            yield Setting(built, server)
        finally:
            await admission.close()


async def refusal(client: Setting, name: str = "one", **content: Any) -> str:
    """Why a widget is refused; empty when it is not."""
    try:
        await client.create("widgets", "default", name, **content)
    except StatusError as problem:
        head, _, why = str(problem).partition(" denied request: ")
        assert head.startswith(f"widgets.example.org \"{name}\" is forbidden: ValidatingAdmissionPolicy 'p'")
        return why
    return ""
