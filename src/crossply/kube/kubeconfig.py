"""Kubeconfig files: several are merged by kubectl's rule, the first that says something wins."""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Sequence
from typing import Any

from crossply.kube.config import ClusterConfig, ConfigError, read_file
from crossply.kube.credentials import Credential, Credentials, Fixed, TokenFile
from crossply.kube.exec_plugin import ExecCredentials, Plugin
from crossply.kube.request_types import Actor
from crossply.kube.tls import Certificate
from crossply.values import Object
from crossply.values.yaml import YamlError, load

EXEC_VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
_DIRECTORY = "\0directory"
"""Where an entry keeps the directory of its file, which relative paths are based on."""

USES_THIS_MACHINE = ("certificate-authority", "client-certificate", "client-key", "tokenFile", "exec")
"""Fields of a kubeconfig that name files or programs."""

_LOCAL_KUBECONFIG = os.path.join(".crossply", "kubeconfig")
"""What `crossply up` writes by default."""


def _local_hint() -> str:
    """The kubeconfig of a control plane in the working directory; nothing where there is none."""
    if not os.path.isfile(_LOCAL_KUBECONFIG):
        return ""
    return f"use the control plane of this directory: export KUBECONFIG={_LOCAL_KUBECONFIG}"


def read_kubeconfig(paths: Sequence[str], context: str = "", *, required: bool = False) -> ClusterConfig:
    """The configuration of one context; files that do not exist are skipped unless required."""
    merged = Merged()
    for path in paths:
        if required or os.path.exists(path):
            merged.add(path)
    if not merged.files:
        raise ConfigError(f"there is no kubeconfig at {os.pathsep.join(paths)}", hint=_local_hint())
    return merged.configure(context)


def parse_kubeconfig(data: bytes, name: str = "the kubeconfig") -> ClusterConfig:
    """The configuration of the current context, from a user without rights on this machine.

    Raises ConfigError where it would start a program or read a file.
    """
    merged = Merged()
    merged.add_document(name, data, None)
    return merged.configure("")


class Merged:
    """What all files say together."""

    def __init__(self) -> None:
        self.files: list[str] = []
        self._current = ""
        self._entries: dict[str, dict[str, Object]] = {"clusters": {}, "users": {}, "contexts": {}}

    def add(self, path: str) -> None:
        """Read one more file."""
        self.add_document(path, read_file(path), os.path.dirname(os.path.abspath(path)))

    def add_document(self, path: str, data: bytes, directory: str | None) -> None:
        """Add what a file has. Without a directory, nothing in it may refer to files or programs."""
        try:
            document = load(data)
        except YamlError as problem:
            raise ConfigError(f"{path} is no kubeconfig: {problem}") from None
        document = {} if document is None else document
        if not isinstance(document, dict):
            raise ConfigError(f"{path} is no kubeconfig: it holds no object")
        self.files.append(path)
        self._current = self._current or str(document.get("current-context") or "")
        for section, entries in self._entries.items():
            for entry in document.get(section) or []:
                self._add_entry(path, section, entries, entry, directory)

    def _add_entry(
        self, path: str, section: str, entries: dict[str, Object], entry: Any, directory: str | None
    ) -> None:
        word = section[:-1]
        if not isinstance(entry, dict) or not isinstance(entry.get(word) or {}, dict):
            raise ConfigError(f"{path} is no kubeconfig: an entry of {section} holds no {word}")
        fields = entry.get(word) or {}
        local = [field for field in USES_THIS_MACHINE if fields.get(field)]
        if directory is None and local:
            raise ConfigError(
                f"{path} has {local[0]} in {section}, which would use files or programs of this machine",
                hint="put certificates and tokens into the kubeconfig itself",
            )
        entries.setdefault(str(entry.get("name", "")), {**fields, _DIRECTORY: directory or ""})

    def configure(self, context: str) -> ClusterConfig:
        """The configuration of the named context, or of the current one."""
        name = context or self._current
        if not name:
            raise ConfigError(f"{self._where()} has no current-context, and none was named")
        chosen = self._entry("contexts", name)
        cluster = self._entry("clusters", str(chosen.get("cluster") or ""))
        user = self._entry("users", str(chosen["user"])) if chosen.get("user") else {_DIRECTORY: ""}
        server = str(cluster.get("server") or "")
        if not server.startswith(("https://", "http://")):
            raise ConfigError(f"{self._where()}: the cluster of context {name} has no server URL")
        return ClusterConfig(
            server=server.rstrip("/"),
            authority=_data(cluster, "certificate-authority"),
            insecure=cluster.get("insecure-skip-tls-verify") is True,
            server_name=str(cluster.get("tls-server-name") or ""),
            proxy=str(cluster.get("proxy-url") or ""),
            credentials=_credentials(user),
            certificate=_certificate(user),
            actor=_actor(user),
            namespace=str(chosen.get("namespace") or "default"),
        )

    def _entry(self, section: str, name: str) -> Object:
        entry = self._entries[section].get(name)
        if entry is None:
            raise ConfigError(f'{self._where()} has no {section[:-1]} named "{name}"')
        return entry

    def _where(self) -> str:
        return os.pathsep.join(self.files)


def _data(entry: Object, key: str) -> bytes:
    """What an entry holds as base64 in `key-data`, or in the file that `key` names."""
    if text := entry.get(f"{key}-data"):
        try:
            return base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError, TypeError):
            raise ConfigError(f"the kubeconfig's {key}-data is not base64") from None
    return read_file(os.path.join(entry[_DIRECTORY], str(entry[key]))) if entry.get(key) else b""


def _certificate(user: Object) -> Certificate | None:
    certificate, key = _data(user, "client-certificate"), _data(user, "client-key")
    if bool(certificate) != bool(key):
        raise ConfigError(
            "the kubeconfig's user has a client-certificate without a client-key, or the reverse"
        )
    return Certificate(certificate, key) if certificate else None


def _actor(user: Object) -> Actor | None:
    return Actor(str(user["as"]), tuple(user.get("as-groups") or ())) if user.get("as") else None


def _credentials(user: Object) -> Credentials:
    if user.get("token"):
        return Fixed(Credential(f"Bearer {user['token']}"))
    if user.get("tokenFile"):
        return TokenFile(os.path.join(user[_DIRECTORY], str(user["tokenFile"])))
    if user.get("exec"):
        return ExecCredentials(_plugin(user["exec"], user[_DIRECTORY]))
    if user.get("username"):
        pair = f"{user['username']}:{user.get('password') or ''}"
        return Fixed(Credential("Basic " + base64.b64encode(pair.encode()).decode()))
    if user.get("auth-provider"):
        raise ConfigError(
            "the kubeconfig's user has an auth-provider, which Kubernetes no longer supports",
            hint="use an exec credential plugin",
        )
    return Fixed(Credential())


def _plugin(entry: Any, directory: str) -> Plugin:
    if not isinstance(entry, dict) or not entry.get("command"):
        raise ConfigError("the kubeconfig's exec section names no command")
    if entry.get("apiVersion") not in EXEC_VERSIONS:
        raise ConfigError(
            f"the kubeconfig's exec section has the apiVersion {entry.get('apiVersion')!r}; "
            f"known are {' and '.join(EXEC_VERSIONS)}"
        )
    command = str(entry["command"])
    # As for every other path: a name alone is looked for in PATH, anything else is relative to the file.
    if os.sep in command:
        command = os.path.join(directory, command)
    return Plugin(
        command=command,
        arguments=tuple(str(argument) for argument in entry.get("args") or ()),
        environment={str(pair["name"]): str(pair["value"]) for pair in entry.get("env") or ()},
        api_version=str(entry["apiVersion"]),
        install_hint=str(entry.get("installHint") or ""),
    )
