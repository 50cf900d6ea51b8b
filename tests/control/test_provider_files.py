"""The files of a provider on this machine: a token of its own, replaced in place."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

import pytest

from crossply.control.runtimes.service_account_files import ACCOUNT, KUBECONFIG, ProviderFiles, request_token
from crossply.kube.client import Client
from crossply.kube.config import in_cluster, load_config
from crossply.kube.core_kinds import SECRET, SERVICE_ACCOUNT
from crossply.kube.failures import Forbidden


async def test_a_provider_is_its_service_account_by_both_ways_to_the_api_server(client, ns, tmp_path):
    name = {"name": "provider-x", "namespace": ns}
    await client.create(SERVICE_ACCOUNT, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": name})
    token = await request_token(client, ns, "provider-x")
    assert timedelta(minutes=40) < token.renewal - datetime.now(UTC) < timedelta(minutes=50)
    files = ProviderFiles(str(tmp_path / "provider-x"))
    files.write_account(token.token, client.config.authority, ns)
    files.write_kubeconfig(client.config.server, ns)
    host, _, port = client.config.server.removeprefix("https://").rpartition(":")
    pod = {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}
    for config in (load_config(files.path(KUBECONFIG)), in_cluster(pod, files.path(ACCOUNT))):
        assert config.namespace == ns
        async with Client(config) as own:
            with pytest.raises(Forbidden, match=f"system:serviceaccount:{ns}:provider-x"):
                await own.list(SECRET)


def test_a_new_token_takes_the_place_of_the_old_one_in_the_same_directory(tmp_path):
    files = ProviderFiles(str(tmp_path / "provider-x"))
    files.write_account("one", b"authority", "home")
    mounted = os.open(files.path(ACCOUNT), os.O_RDONLY)
    authority = os.stat(files.path(ACCOUNT, "ca.crt")).st_ino
    files.write_account("two", b"authority", "home")
    try:
        descriptor = os.open("token", os.O_RDONLY, dir_fd=mounted)
        assert os.read(descriptor, 10) == b"two"
        os.close(descriptor)
        assert sorted(os.listdir(mounted)) == ["ca.crt", "namespace", "token"]
    finally:
        os.close(mounted)
    assert os.stat(files.path(ACCOUNT, "ca.crt")).st_ino == authority, "what is the same is left alone"
    files.remove()
    assert not os.path.exists(files.directory)
