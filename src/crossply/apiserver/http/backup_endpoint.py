"""GET /crossply/backup sends a consistent copy of the database while writes continue.

The running server has the database locked, so only it can take a backup. A backup contains every Secret: the
right to GET this URL is needed, which only administrators have by default.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile

from aiohttp import web

from crossply.apiserver.endpoints.status_errors import too_many_requests
from crossply.apiserver.http.connection_acceptor import SOFTWARE
from crossply.apiserver.storage import Store

PATH = "/crossply/backup"
CONTENT_TYPE = "application/vnd.sqlite3"
REVISION_HEADER = "Crossply-Revision"
_PIECE = 256 << 10
_UNSENT = "backup-"


def remove_unsent(directory: str) -> None:
    """Remove unfinished backups of a server that was killed."""
    for entry in list(os.scandir(directory)):
        if entry.name.startswith(_UNSENT) and entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)


class Backups:
    """Creates backups, one at a time, in the data directory."""

    def __init__(self, store: Store, directory: str) -> None:
        self._store = store
        self._directory = directory
        self._busy = asyncio.Lock()

    async def send(self, request: web.BaseRequest) -> web.StreamResponse:
        """Create a backup, send it, and remove it."""
        if self._busy.locked():
            raise too_many_requests("a backup is being made already", retry_after=5)
        async with self._busy:
            with tempfile.TemporaryDirectory(prefix=_UNSENT, dir=self._directory) as private:
                path = os.path.join(private, "backup.db")
                revision = await self._store.backup(path)
                return await _send_file(request, path, revision)


async def _send_file(request: web.BaseRequest, path: str, revision: int) -> web.StreamResponse:
    headers = {"Content-Type": CONTENT_TYPE, REVISION_HEADER: str(revision), "Server": SOFTWARE}
    response = web.StreamResponse(headers=headers)
    response.content_length = os.path.getsize(path)
    await response.prepare(request)
    with open(path, "rb") as file:
        while piece := await asyncio.to_thread(file.read, _PIECE):
            await response.write(piece)
    await response.write_eof()
    return response
