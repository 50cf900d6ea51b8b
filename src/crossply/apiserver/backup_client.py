"""Takes a backup: from the server that has the data open or, without one, from the data itself."""

from __future__ import annotations

import asyncio
import contextlib
import os
from http.client import HTTPException, HTTPResponse, HTTPSConnection
from urllib.parse import urlsplit

from crossply.apiserver.http.backup_endpoint import PATH, REVISION_HEADER
from crossply.apiserver.storage import OPAQUE, StorageFailed, StorageInUse, Store, WouldOverwrite
from crossply.apiserver.storage.data_directory import DirectoryLock, has_database, new_file
from crossply.apiserver.tls.certificate_files import read

_PIECE = 256 << 10
_SECONDS = 60.0


def back_up(directory: str, path: str) -> int:
    """Write a backup of a data directory to `path`; returns its revision."""
    if os.path.exists(path):
        raise WouldOverwrite(f"{path} exists already")
    if not os.path.exists(_kubeconfig(directory)) and not os.path.isdir(os.path.join(directory, "data")):
        raise StorageFailed(f"{directory} is not the data directory of an API server")
    try:
        lock = DirectoryLock(directory)
    except StorageInUse:
        return _of_server(directory, path)
    try:
        return _of_files(directory, path)
    finally:
        lock.release()


def _of_files(directory: str, path: str) -> int:
    data = os.path.join(directory, "data")
    if not os.path.isdir(data) or not has_database(data):
        raise StorageFailed(
            f"{directory} holds no data, and no server runs on it", hint="start the server, then back it up"
        )
    return asyncio.run(_of_data(data, path))


async def _of_data(data: str, path: str) -> int:
    # Encrypted objects are copied as they are: a backup needs no key, but using it does.
    store = await Store.open(data, codec=OPAQUE)
    try:
        return await store.backup(path)
    finally:
        await store.close()


def _of_server(directory: str, path: str) -> int:
    try:
        with contextlib.closing(_connect(directory)) as connection:
            token = read(os.path.join(directory, "admin.token")).decode().strip()
            connection.request("GET", PATH, headers={"Authorization": f"Bearer {token}"})
            return _keep(connection.getresponse(), path)
    except (OSError, HTTPException) as problem:
        raise StorageFailed(f"the server did not give a backup: {problem}") from None


def _connect(directory: str) -> HTTPSConnection:
    import ssl

    from crossply.values.yaml import load

    config = load(read(_kubeconfig(directory)))
    address = urlsplit(config["clusters"][0]["cluster"]["server"])
    context = ssl.create_default_context(cafile=os.path.join(directory, "pki", "ca.crt"))
    return HTTPSConnection(address.hostname or "", address.port, context=context, timeout=_SECONDS)


def _keep(response: HTTPResponse, path: str) -> int:
    """Write the response to a file, completely or not at all."""
    if response.status != 200:
        raise StorageFailed(f"the server did not give a backup: {response.status} {response.reason}")
    with new_file(path) as partial, open(partial, "wb") as file:
        left = int(response.headers["Content-Length"])
        while piece := response.read(_PIECE):
            file.write(piece)
            left -= len(piece)
        if left:
            raise StorageFailed("the server stopped in the middle of the backup")
        file.flush()
        os.fsync(file.fileno())
    return int(response.headers[REVISION_HEADER])


def _kubeconfig(directory: str) -> str:
    return os.path.join(directory, "kubeconfig")
