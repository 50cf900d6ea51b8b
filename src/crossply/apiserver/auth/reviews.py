"""Access reviews and token reviews: validated, answered, and never stored.

`Reviews.create` takes the object of the client and returns it with its status. The right to create them is
authorized as for any other resource.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

from crossply.apiserver.auth.authentication import Authenticator
from crossply.apiserver.auth.rbac import Authorizer
from crossply.apiserver.auth.rbac.forbidden_errors import resolution_problems
from crossply.apiserver.auth.review_field_types import check_types, known_fields
from crossply.apiserver.auth.system_users_and_groups import user_info
from crossply.apiserver.auth.token_results import TokenRefused
from crossply.apiserver.endpoints.request_info import RequestInfo, User
from crossply.apiserver.endpoints.status_errors import Cause, bad_request, invalid
from crossply.values import Object
from crossply.values.gojson import dumps
from crossply.values.goquote import quote
from crossply.values.timestamps import format_timestamp

_AUTHENTICATION = "authentication.k8s.io"
_AUTHORIZATION = "authorization.k8s.io"
RESOURCES = {
    f"tokenreviews.{_AUTHENTICATION}": "TokenReview",
    f"selfsubjectreviews.{_AUTHENTICATION}": "SelfSubjectReview",
    f"subjectaccessreviews.{_AUTHORIZATION}": "SubjectAccessReview",
    f"localsubjectaccessreviews.{_AUTHORIZATION}": "LocalSubjectAccessReview",
    f"selfsubjectaccessreviews.{_AUTHORIZATION}": "SelfSubjectAccessReview",
    f"selfsubjectrulesreviews.{_AUTHORIZATION}": "SelfSubjectRulesReview",
}
"""The review resources, and their kinds."""
_NO_RESOURCE = "\0"
"""A missing resource: it is not a path, and only rules about all resources match it."""
_Handler = Callable[[User, str, Object], Awaitable[Object]]

_BOTH = "cannot be specified in combination with resourceAttributes"
_NEITHER = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
_NOBODY = "at least one of user or group must be specified"


class Reviews:
    def __init__(
        self, authenticator: Authenticator, authorizer: Authorizer, clock: Callable[[], datetime]
    ) -> None:
        self._authenticator = authenticator
        self._authorizer = authorizer
        self._clock = clock
        self._handlers: dict[str, _Handler] = {
            "TokenReview": self._token_review,
            "SelfSubjectReview": self._self_subject_review,
            "SubjectAccessReview": self._subject_access_review,
            "LocalSubjectAccessReview": self._local_subject_access_review,
            "SelfSubjectAccessReview": self._self_subject_access_review,
            "SelfSubjectRulesReview": self._self_subject_rules_review,
        }

    async def create(self, resource: str, user: User, namespace: str, body: Object) -> Object:
        """Answer a review of a resource in `RESOURCES`."""
        kind = RESOURCES[resource]
        check_types(kind, body)
        body = known_fields(kind, body)
        return await self._handlers[kind](user, namespace, body)

    async def _token_review(self, user: User, namespace: str, body: Object) -> Object:
        spec = _spec(body)
        if not spec.get("token"):
            raise bad_request("token is required for TokenReview in authentication")
        audiences = spec.get("audiences") or ()
        try:
            identity = self._authenticator.authenticate_token(spec["token"], audiences)
        except TokenRefused as problem:
            return _answer(body, "TokenReview", {"user": {}, "error": str(problem)})
        status = {
            "authenticated": True,
            "user": user_info(identity.user),
            "audiences": list(identity.audiences),
        }
        return _answer(body, "TokenReview", status)

    async def _self_subject_review(self, user: User, namespace: str, body: Object) -> Object:
        stamp = format_timestamp(self._clock())
        return {
            "kind": "SelfSubjectReview",
            "apiVersion": f"{_AUTHENTICATION}/v1",
            "metadata": {"creationTimestamp": stamp},
            "status": {"userInfo": user_info(user)},
        }

    async def _subject_access_review(self, user: User, namespace: str, body: Object) -> Object:
        _check_access_review("SubjectAccessReview", body)
        return self._access(body, "SubjectAccessReview", _subject(_spec(body)))

    async def _local_subject_access_review(self, user: User, namespace: str, body: Object) -> Object:
        metadata = body.get("metadata") or {}
        if metadata.get("namespace") not in (None, "", namespace):
            # The right to ask about one namespace is not a right to ask about another.
            raise bad_request(
                "the namespace of the provided object does not match the namespace sent on the request"
            )
        body = {**body, "metadata": {**metadata, "namespace": namespace}}
        _check_access_review("LocalSubjectAccessReview", body)
        return self._access(body, "LocalSubjectAccessReview", _subject(_spec(body)))

    async def _self_subject_access_review(self, user: User, namespace: str, body: Object) -> Object:
        _check_access_review("SelfSubjectAccessReview", body)
        return self._access(body, "SelfSubjectAccessReview", user)

    async def _self_subject_rules_review(self, user: User, namespace: str, body: Object) -> Object:
        requested = _spec(body).get("namespace")
        if not requested:
            raise bad_request("no namespace on request")
        return {
            "kind": "SelfSubjectRulesReview",
            "apiVersion": f"{_AUTHORIZATION}/v1",
            "metadata": {},
            "spec": {},
            "status": self._rules_status(user, requested),
        }

    def _rules_status(self, user: User, namespace: str) -> Object:
        rules = [rule.body() for rule in self._authorizer.rules_for(user, namespace)]
        status: Object = {
            "resourceRules": [
                _picked(rule, "verbs", "apiGroups", "resources", "resourceNames")
                for rule in rules
                if "resources" in rule
            ],
            "nonResourceRules": [
                _picked(rule, "verbs", "nonResourceURLs") for rule in rules if "nonResourceURLs" in rule
            ],
            "incomplete": False,
        }
        problems = resolution_problems(self._authorizer.missing_roles(user, namespace))
        return {**status, "evaluationError": problems} if problems else status

    def _access(self, body: Object, kind: str, subject: User) -> Object:
        decision = self._authorizer.authorize(subject, _question(_spec(body)))
        status: Object = {"allowed": decision.allowed}
        if decision.reason:
            status["reason"] = decision.reason
        return _answer(body, kind, status)


def _answer(body: Object, kind: str, status: Object) -> Object:
    group = _AUTHENTICATION if kind == "TokenReview" else _AUTHORIZATION
    metadata = body.get("metadata") or {}
    return {**body, "kind": kind, "apiVersion": f"{group}/v1", "metadata": metadata, "status": status}


def _check_access_review(kind: str, body: Object) -> None:
    causes = _access_review_causes(kind, body)
    if causes:
        # kube-apiserver has no kind to name here: the review has an internal type by then.
        raise invalid("", _AUTHORIZATION, "", causes)


def _subject(spec: Object) -> User:
    extra = {key: tuple(values) for key, values in (spec.get("extra") or {}).items()}
    return User(spec.get("user", ""), tuple(spec.get("groups") or ()), spec.get("uid", ""), extra or None)


def _question(spec: Object) -> RequestInfo:
    attributes = spec.get("resourceAttributes")
    if attributes is None:
        plain = spec["nonResourceAttributes"]
        return RequestInfo(plain.get("verb", ""), plain.get("path", ""))
    return RequestInfo(
        attributes.get("verb", ""),
        "",
        group=attributes.get("group", ""),
        version=attributes.get("version") or "*",
        namespace=attributes.get("namespace", ""),
        resource=attributes.get("resource") or _NO_RESOURCE,
        name=attributes.get("name", ""),
        subresource=attributes.get("subresource", ""),
    )


def _spec(body: Object) -> Object:
    return body.get("spec") or {}


def _picked(rule: Object, *fields: str) -> Object:
    return {field: rule[field] for field in fields if field in rule}


def _access_review_causes(kind: str, body: Object) -> list[Cause]:
    spec = body.get("spec") or {}
    causes = _attribute_causes(spec)
    if kind != "SelfSubjectAccessReview" and not spec.get("user") and not spec.get("groups"):
        causes.append(_invalid("spec.user", quote(""), _NOBODY))
    for selector in ("fieldSelector", "labelSelector"):
        causes += _selector_causes(spec, selector)
    return causes + _metadata_causes(kind, body) + (_local_causes(body, spec) if kind[0] == "L" else [])


def _attribute_causes(spec: Object) -> list[Cause]:
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if resource is not None and path is not None:
        return [_invalid("spec.nonResourceAttributes", _path_attributes(path), _BOTH)]
    if resource is None and path is None:
        return [_invalid("spec.resourceAttributes", "null", _NEITHER)]
    return []


def _path_attributes(path: Object) -> str:
    return dumps({"Path": path.get("path", ""), "Verb": path.get("verb", "")})


def _selector_causes(spec: Object, field: str) -> list[Cause]:
    selector = (spec.get("resourceAttributes") or {}).get(field)
    if selector is None:
        return []
    at = f"spec.resourceAttributes.{field}"
    raw, requirements = selector.get("rawSelector"), selector.get("requirements")
    if raw and requirements:
        why = "may not specified at the same time as requirements"
        return [_invalid(f"{at}.rawSelector", quote(raw), why)]
    if not raw and not requirements:
        why = f"Required value: when {at} is specified, requirements or rawSelector is required"
        return [Cause("FieldValueRequired", why, f"{at}.requirements")]
    return []


def _metadata_causes(kind: str, body: Object) -> list[Cause]:
    local = kind.startswith("Local")
    metadata = body.get("metadata") or {}
    allowed = {"managedFields", "namespace"} if local else {"managedFields"}
    if not any(value for field, value in metadata.items() if field not in allowed):
        return []
    why = "must be empty except for namespace" if local else "must be empty"
    return [_invalid("metadata", dumps(metadata), why)]


def _local_causes(body: Object, spec: Object) -> list[Cause]:
    causes = []
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if resource is not None and resource.get("namespace", "") != body["metadata"]["namespace"]:
        namespace = quote(resource.get("namespace", ""))
        causes.append(
            _invalid("spec.resourceAttributes.namespace", namespace, "must match metadata.namespace")
        )
    if path is not None:
        attributes = _path_attributes(path)
        causes.append(
            _invalid("spec.nonResourceAttributes", attributes, "disallowed on this kind of request")
        )
    return causes


def _invalid(field: str, value: Any, why: str) -> Cause:
    return Cause("FieldValueInvalid", f"Invalid value: {value}: {why}", field)
