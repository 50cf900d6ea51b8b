"""The server's address and our credentials: kubeconfigs, pods and credential plugins."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import pathlib
import stat
import sys

import pytest

from crossply.kube.client import Client
from crossply.kube.config import ConfigError, in_cluster, load_config
from crossply.kube.credentials import CredentialsFailed, TokenFile
from crossply.kube.exec_plugin import ExecCredentials, Plugin
from crossply.kube.request_types import Actor
from crossply.values.yaml import dump
from tests.support.server_process import NAMESPACE

EXEC = "client.authentication.k8s.io/v1"


def kubeconfig(
    path: pathlib.Path, name: str, current: bool = True, user: dict | None = None, **cluster
) -> str:
    cluster = {"server": f"https://{name}.example.org", **cluster}
    document = {
        "clusters": [{"name": name, "cluster": cluster}],
        "users": [{"name": name, "user": user or {}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name, "namespace": name}}],
    }
    if current:
        document["current-context"] = name
    path.write_text(dump(document))
    return str(path)


def authorization(config) -> str:
    return asyncio.run(config.credentials.current()).authorization


def test_the_first_file_with_a_value_wins(tmp_path) -> None:
    first = kubeconfig(tmp_path / "first", "one", current=False)
    second = kubeconfig(tmp_path / "second", "two")
    clash = kubeconfig(tmp_path / "clash", "two", server="https://other.example.org")
    env = {"KUBECONFIG": os.pathsep.join([first, str(tmp_path / "none"), second, clash])}
    assert load_config(environment=env).server == "https://two.example.org"
    assert load_config(context="one", environment=env).namespace == "one"


def test_a_file_that_is_named_is_the_only_one(tmp_path) -> None:
    named = kubeconfig(tmp_path / "named", "one")
    assert load_config(named, environment={"KUBECONFIG": str(tmp_path / "other")}).namespace == "one"


def test_the_home_directory_is_the_last_resort(tmp_path) -> None:
    (tmp_path / ".kube").mkdir()
    kubeconfig(tmp_path / ".kube" / "config", "home")
    assert load_config(environment={"HOME": str(tmp_path)}).namespace == "home"


def test_files_are_relative_to_their_kubeconfig_and_data_is_base64(tmp_path) -> None:
    (tmp_path / "ca.pem").write_text("AUTHORITY")
    (tmp_path / "token").write_text("secret\n")
    user = {
        "client-certificate-data": base64.b64encode(b"CERT").decode(),
        "client-key-data": base64.b64encode(b"KEY").decode(),
        "tokenFile": "token",
        "as": "alice",
        "as-groups": ["devs"],
    }
    config = load_config(
        kubeconfig(tmp_path / "config", "one", user=user, **{"certificate-authority": "ca.pem"})
    )
    assert config.authority == b"AUTHORITY"
    assert config.certificate.certificate == b"CERT"
    assert authorization(config) == "Bearer secret"
    assert config.actor == Actor("alice", ("devs",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("a: [", "is no kubeconfig", id="not YAML"),
        pytest.param("[]", "holds no object", id="a list"),
        pytest.param("{}", "has no current-context", id="an empty object"),
        pytest.param("current-context: a", 'no context named "a"', id="a context that is not there"),
        pytest.param("clusters: [1]", "an entry of clusters holds no cluster", id="an entry of another type"),
    ],
)
def test_an_invalid_kubeconfig_is_reported(tmp_path, text, message) -> None:
    (tmp_path / "config").write_text(text)
    with pytest.raises(ConfigError, match=message):
        load_config(str(tmp_path / "config"))


@pytest.mark.parametrize(
    ("user", "message"),
    [
        ({"client-certificate-data": "QQ=="}, "without a client-key"),
        ({"client-certificate-data": "%"}, "client-certificate-data is not base64"),
        ({"client-certificate": "none.pem"}, "cannot read .*none.pem: No such file"),
        ({"auth-provider": {"name": "gcp"}}, "no longer supports"),
        ({"exec": {"apiVersion": EXEC}}, "names no command"),
        ({"exec": {"apiVersion": "v0", "command": "x"}}, "has the apiVersion 'v0'"),
    ],
)
def test_an_invalid_user_is_reported(tmp_path, user, message) -> None:
    with pytest.raises(ConfigError, match=message):
        load_config(kubeconfig(tmp_path / "config", "one", user=user))


def test_a_missing_configuration_is_reported(tmp_path) -> None:
    with pytest.raises(ConfigError, match="there is no kubeconfig at"):
        load_config(environment={"HOME": str(tmp_path)})


def test_a_pod_uses_its_service_account(tmp_path) -> None:
    for name, text in (("ca.crt", "AUTHORITY"), ("token", "pod"), ("namespace", "system")):
        (tmp_path / name).write_text(text)
    env = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "6443"}
    config = in_cluster(env, str(tmp_path))
    assert (config.server, config.namespace) == ("https://[fd00::1]:6443", "system")
    assert authorization(config) == "Bearer pod"


async def test_a_token_file_is_reread(tmp_path) -> None:
    now, path = [0.0], tmp_path / "token"

    async def read(credentials: TokenFile) -> str:
        return (await credentials.current()).authorization

    credentials = TokenFile(str(path), lambda: now[0])
    with pytest.raises(CredentialsFailed):
        await read(credentials)
    path.write_text("one")
    assert await read(credentials) == "Bearer one"
    path.write_text("two")
    assert await read(credentials) == "Bearer one"
    now[0] = 61.0
    assert await read(credentials) == "Bearer two"
    path.write_text("three")
    credentials.refused()
    assert await read(credentials) == "Bearer three"


PLUGIN = f"""#!{sys.executable}
import json, os
path = os.environ["COUNTER"]
count = int(open(path).read()) + 1 if os.path.exists(path) else 1
open(path, "w").write(str(count))
version = json.loads(os.environ["KUBERNETES_EXEC_INFO"])["apiVersion"]
status = {{"token": f"token-{{count}}", "expirationTimestamp": "1970-01-01T00:10:00Z"}}
print(json.dumps({{"apiVersion": version, "kind": "ExecCredential", "status": status}}))
"""


def plugin(tmp_path: pathlib.Path, text: str = PLUGIN) -> Plugin:
    program = tmp_path / "plugin"
    program.write_text(text)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return Plugin(str(program), (), {"COUNTER": str(tmp_path / "count")}, EXEC, "install it")


async def test_a_plugin_is_called_once_until_its_credential_expires(tmp_path) -> None:
    now = [0.0]

    credentials = ExecCredentials(plugin(tmp_path), lambda: now[0])
    both = await asyncio.gather(credentials.current(), credentials.current())
    assert {answer.authorization for answer in both} == {"Bearer token-1"}
    now[0] = 589.0
    assert (await credentials.current()).authorization == "Bearer token-1"
    now[0] = 591.0
    assert (await credentials.current()).authorization == "Bearer token-2"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#!/bin/sh\necho no >&2; exit 3\n", "failed with exit code 3: no"),
        ("#!/bin/sh\necho nonsense\n", "printed no ExecCredential"),
        ("#!/bin/sh\necho '{\"status\": {}}'\n", "neither a token nor a certificate"),
        ("#!/none\n", "cannot run the credential plugin"),
    ],
)
async def test_an_invalid_plugin_is_reported(tmp_path, text, message) -> None:
    with pytest.raises(CredentialsFailed, match=message):
        await ExecCredentials(plugin(tmp_path, text)).current()


async def test_a_real_server_accepts_a_certificate_and_a_plugins_token(server, tmp_path) -> None:
    pki = server.directory / "pki"
    shared = {"server": server.config.server, "certificate-authority": str(pki / "ca.crt")}
    shown = {"client-certificate": str(pki / "admin.crt"), "client-key": str(pki / "admin.key")}
    token = (server.directory / "admin.token").read_text().strip()
    answer = f'{{"kind": "ExecCredential", "apiVersion": "{EXEC}", "status": {{"token": "{token}"}}}}'
    exec_user = {"exec": {"apiVersion": EXEC, "command": "/bin/echo", "args": [answer]}}

    async def namespaces(path: str) -> int:
        async with Client(load_config(path)) as client:
            return len((await client.list(NAMESPACE)).items)

    for user in (shown, exec_user):
        path = kubeconfig(tmp_path / "config", "one", user=user, **shared)
        assert await namespaces(path) >= 4


@pytest.mark.parametrize(
    ("user", "field"),
    [
        ({"exec": {"command": "sh", "apiVersion": "client.authentication.k8s.io/v1"}}, "exec"),
        ({"tokenFile": "/etc/passwd"}, "tokenFile"),
        ({"client-key": "/root/key"}, "client-key"),
    ],
)
def test_a_foreign_kubeconfig_uses_nothing_of_this_machine(user: dict[str, object], field: str):
    from crossply.kube.kubeconfig import parse_kubeconfig

    document = {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://example.org"}}],
        "users": [{"name": "u", "user": {"token": "t"}}],
    }
    assert parse_kubeconfig(json.dumps(document).encode()).server == "https://example.org"
    document["users"] = [{"name": "u", "user": user}]
    with pytest.raises(ConfigError, match=f"has {field} in users"):
        parse_kubeconfig(json.dumps(document).encode())
