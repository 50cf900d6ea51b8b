"""The users and groups that Kubernetes defines, and the user names of service accounts."""

from __future__ import annotations

from dataclasses import replace

from crossply.apiserver.endpoints.request_info import User
from crossply.apiserver.registry.name_validation import dns_label_problems, subdomain_problems
from crossply.values import Object

MASTERS = "system:masters"
AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"
SERVICE_ACCOUNTS = "system:serviceaccounts"
NODES = "system:nodes"
ANONYMOUS = User("system:anonymous", (UNAUTHENTICATED,))

CREDENTIAL_ID = "authentication.kubernetes.io/credential-id"
POD_NAME = "authentication.kubernetes.io/pod-name"
POD_UID = "authentication.kubernetes.io/pod-uid"
NODE_NAME = "authentication.kubernetes.io/node-name"
NODE_UID = "authentication.kubernetes.io/node-uid"

_ACCOUNT_PREFIX = "system:serviceaccount:"
_NODE_PREFIX = "system:node:"


def authenticated(user: User) -> User:
    """The user with the group system:authenticated."""
    if AUTHENTICATED in user.groups:
        return user
    return replace(user, groups=(*user.groups, AUTHENTICATED))


def account_username(namespace: str, name: str) -> str:
    return f"{_ACCOUNT_PREFIX}{namespace}:{name}"


def account_groups(namespace: str) -> tuple[str, str]:
    """The groups of every service account in a namespace."""
    return SERVICE_ACCOUNTS, f"{SERVICE_ACCOUNTS}:{namespace}"


def split_account(username: str) -> tuple[str, str] | None:
    """The namespace and name of the service account with a user name, if it is one."""
    if not username.startswith(_ACCOUNT_PREFIX):
        return None
    parts = username.removeprefix(_ACCOUNT_PREFIX).split(":")
    if len(parts) != 2 or dns_label_problems(parts[0]) or subdomain_problems(parts[1]):
        return None
    return parts[0], parts[1]


def split_node(username: str) -> str | None:
    """The name of the node with a user name, if it is one."""
    name = username.removeprefix(_NODE_PREFIX)
    return name if name != username and not subdomain_problems(name) else None


def user_info(user: User) -> Object:
    """A user in the form of reviews and audit events."""
    extra = {key: list(values) for key, values in (user.extra or {}).items()}
    info: Object = {"username": user.name, "uid": user.uid, "groups": list(user.groups), "extra": extra}
    return {field: value for field, value in info.items() if value}
