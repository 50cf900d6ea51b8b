"""Packages as Deployments: a Service and certificates first, then a service account and the Deployment.

What others wait for is made before the package's own objects are established, the rest after: a provider must
not run before its kinds are there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple

import orjson

from crossply.compose.conditions import read_conditions
from crossply.compose.object_metadata import annotations_of, controller_of, labels_of, name_of, uid_of
from crossply.control.replica_shared_secret import Files
from crossply.control.runtimes.certificate_authority import TRUSTED, is_from_another
from crossply.control.runtimes.manifest_metadata import PACKAGE, Subject
from crossply.control.runtimes.mutual_tls_certificates import Credentials, renewal_in
from crossply.control.runtimes.package_runtime_choice import FUNCTION
from crossply.control.runtimes.runtime import NotRunning, Prepared
from crossply.control.runtimes.runtime_config_selection import NoRuntimeConfig, RuntimeConfigs
from crossply.control.runtimes.runtime_manifests import (
    STAMP,
    account_for,
    deployment_for,
    endpoint_of,
    service_for,
    service_names,
)
from crossply.control.runtimes.runtime_object_applier import RuntimeObjects
from crossply.errors import CrossplyError
from crossply.functions.binding import RUNTIME, TO_COMPLETION
from crossply.kube.core_kinds import DEPLOYMENT, SERVICE, SERVICE_ACCOUNT
from crossply.kube.informer import Informer
from crossply.kube.kind import Kind
from crossply.values import Object
from crossply.xpkg.run_to_completion_image import LABEL, RUNS_TO_COMPLETION

_RUN_IN_CONTAINERS = "run functions in containers of Crossply: --package-runtime=Function=Container"
_NO_SERVER = (
    "the function runs to completion and serves no calls, so it gets no Deployment; "
    f"{_RUN_IN_CONTAINERS}, or build the package of an image that serves gRPC"
)

Bind = Callable[[Object, str, str], Awaitable[None]]
"""Given a revision, and the namespace and name of its service account."""


class RuntimeContext(NamedTuple):
    """What a Deployment of any package is made with."""

    namespace: str = "crossplane-system"
    account: str = "crossplane"
    """The service account of the control plane: its pull secrets are for packages, too."""
    rollout: bool = True
    """Whether several revisions of a Function may be active, each behind a Service of its own."""


class DeploymentRuntime:
    """Runs the revisions of one kind of package on Kubernetes."""

    def __init__(
        self,
        objects: RuntimeObjects,
        credentials: Credentials,
        configs: RuntimeConfigs,
        revisions: Informer,
        around: RuntimeContext,
        bind: Bind | None = None,
    ) -> None:
        """`bind` gives its rights to the service account of a revision that has some: a provider's."""
        self._objects = objects
        self._credentials = credentials
        self._configs = configs
        self._revisions = revisions
        self._around = around
        self._bind = bind

    async def prepare(self, revision: Object) -> Prepared:
        """Service and certificates."""
        subject = self._subject(revision)
        service = await self._applied(SERVICE, "service", subject, service_for(subject))
        server = revision["spec"].get("tlsServerSecretName") or f"{subject.package}-tls-server"
        owners = {"ownerReferences": revision["metadata"].get("ownerReferences") or []}
        names = tuple(dict.fromkeys((*service_names(service), *self._names_of_package(subject))))
        files, renewal = await self._secured(subject, self._credentials.ensure_server(server, names, owners))
        status: Object = {"tlsServerSecretName": server}
        client = revision["spec"].get("tlsClientSecretName")
        if client and subject.kind != FUNCTION:
            own = self._credentials.ensure_client(client, (subject.name,), owners)
            renewal = min(renewal, (await self._secured(subject, own))[1])
            status["tlsClientSecretName"] = client
        if subject.kind == FUNCTION:
            status["endpoint"] = endpoint_of(service)
        return Prepared(status, renewal, files)

    async def run(self, revision: Object, prepared: Prepared) -> None:
        """Service account and Deployment."""
        await self._deploy(revision, prepared)

    async def scale_to_zero(self, revision: Object, prepared: Prepared) -> None:
        """The same without Pods, whatever a runtime config says."""
        await self._deploy(revision, prepared, {"replicas": 0})

    async def _deploy(self, revision: Object, prepared: Prepared, overrides: Object | None = None) -> None:
        subject = self._subject(revision)
        if _runs_to_completion(revision):
            await self._objects.delete(DEPLOYMENT, name_of(deployment_for(subject, "", "")), uid_of(revision))
            raise NotRunning(_NO_SERVER, hint=_RUN_IN_CONTAINERS)
        account = account_for(subject, self._existing_secrets(subject))
        deployment = self._deployment(subject, name_of(account), prepared)
        deployment["spec"].update(overrides or {})
        if deployment["spec"]["template"]["spec"]["serviceAccountName"] == name_of(account):
            # One that the user made and named is the user's.
            await self._applied(SERVICE_ACCOUNT, "service account", subject, account)
        if self._bind is not None:
            acts_as = deployment["spec"]["template"]["spec"]["serviceAccountName"]
            await self._bind(revision, self._around.namespace, acts_as)
        _check_available(await self._applied(DEPLOYMENT, "deployment", subject, deployment), subject)

    async def stop(self, revision: Object) -> None:
        """Delete the Deployment, and the Service where it is this revision's own."""
        try:
            subject = self._subject(revision)
        except NoRuntimeConfig:
            # What it was run with is gone: then it has the names that it has without.
            subject = Subject(revision, self._around.namespace, {})
            subject = subject._replace(service_of_its_own=self._has_own_service(subject))
        deployment = deployment_for(subject, "", "")
        await self._objects.delete(DEPLOYMENT, name_of(deployment), uid_of(revision))
        if subject.kind == FUNCTION and self._around.rollout:
            await self._objects.delete(SERVICE, name_of(service_for(subject)), uid_of(revision))

    def _subject(self, revision: Object) -> Subject:
        chosen = self._configs.of(revision)
        subject = Subject(
            revision,
            self._around.namespace,
            chosen.spec,
            image=chosen.image,
            config_secrets=chosen.pull_secrets,
            account_secrets=tuple(self._pull_secrets_of(self._around.account)),
        )
        return subject._replace(service_of_its_own=self._has_own_service(subject))

    def _has_own_service(self, subject: Subject) -> bool:
        """Whether a revision is called at a Service that has its name.

        One that Crossplane installed is called at the Service of its package, and its Pods have a certificate
        for that name only. It stays there for as long as the Service is its own.
        """
        shared = self._objects.get(SERVICE, name_of(service_for(subject._replace(service_of_its_own=False))))
        owner = None if shared is None else controller_of(shared)
        return self._around.rollout and (owner is None or owner.get("uid") != uid_of(subject.revision))

    def _names_of_package(self, subject: Subject) -> Iterator[str]:
        """Revisions of one package share a certificate, and each may have a Service.

        The Service of the package is where Crossplane calls them.
        """
        yield from service_names(service_for(subject._replace(service_of_its_own=False)))
        for data in self._revisions.objects():
            revision = orjson.loads(data)
            if (
                labels_of(revision).get(PACKAGE) == subject.package
                and revision["spec"].get("desiredState") == "Active"
            ):
                sibling = subject._replace(revision=revision)
                own = self._has_own_service(sibling)
                yield from service_names(service_for(sibling._replace(service_of_its_own=own)))

    def _existing_secrets(self, subject: Subject) -> Iterator[str]:
        return self._pull_secrets_of(name_of(account_for(subject)))

    def _pull_secrets_of(self, account: str) -> Iterator[str]:
        live = self._objects.get(SERVICE_ACCOUNT, account) or {}
        return (secret["name"] for secret in live.get("imagePullSecrets") or () if secret.get("name"))

    def _deployment(self, subject: Subject, account: str, prepared: Prepared) -> Object:
        server = prepared.status["tlsServerSecretName"]
        client = prepared.status.get("tlsClientSecretName", "")
        bare = deployment_for(subject, account, server, client)
        live = self._objects.get(DEPLOYMENT, name_of(bare))
        if live is not None and not _stamp_on(live) and is_from_another(prepared.certificates):
            # Crossplane started its Pods, with the certificates that they still have to show.
            return bare
        stamp = stamp_of(_stamp_on(live), prepared.certificates, datetime.now(UTC))
        return deployment_for(subject, account, server, client, stamp)

    async def _applied(self, kind: Kind, description: str, subject: Subject, desired: Object) -> Object:
        try:
            return await self._objects.apply(kind, desired)
        except CrossplyError as problem:
            raise problem.within(f"cannot apply {subject.kind.lower()} package {description}") from None

    async def _secured(
        self, subject: Subject, making: Awaitable[tuple[Files, datetime]]
    ) -> tuple[Files, datetime]:
        try:
            return await making
        except CrossplyError as problem:
            context = f'cannot generate TLS certificates for "{subject.package}"'
            raise problem.within(context) from None


def _runs_to_completion(revision: Object) -> bool:
    annotations = annotations_of(revision)
    return annotations.get(LABEL) == RUNS_TO_COMPLETION or annotations.get(RUNTIME) == TO_COMPLETION


def stamp_of(live: str, files: Files, now: datetime) -> str:
    """An annotation of Pods that changes when they must read their certificates again.

    Programs read certificates when they start. The stamp consists of the trusted authorities and the expiry,
    so that a certificate with more names does not restart Pods.
    """
    trusted = hashlib.sha256(files[TRUSTED]).hexdigest()[:16]
    before, _, until = live.partition("-")
    if before == trusted and until.isdigit() and now.timestamp() < int(until):
        return live
    return f"{trusted}-{int(renewal_in(files).timestamp())}"


def _stamp_on(live: Object | None) -> str:
    template = ((live or {}).get("spec") or {}).get("template") or {}
    return str(((template.get("metadata") or {}).get("annotations") or {}).get(STAMP, ""))


def _check_available(deployment: Object, subject: Subject) -> None:
    """Raise why a Deployment does not run its Pods, or not yet."""
    description = f"{subject.kind.lower()} package deployment"
    for condition in read_conditions(deployment.get("status")):
        if condition["type"] == "Available":
            if condition["status"] == "True":
                return
            raise NotRunning(f"{description} is unavailable with message: {condition.get('message', '')}")
    raise NotRunning(f'{description} has no condition of type "Available" yet')
