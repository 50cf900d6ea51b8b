"""The package of a Provider that is a directory on this machine: crossplane.yaml and what is in package/.

Its digest is that of these files, so that a change of them makes a new revision, as a new image would.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from typing import NamedTuple

from crossply.control.package_manager.package_content import read_package_content
from crossply.control.package_manager.package_fetcher import Fetched, Resolved
from crossply.functions.host_access_policy import Check
from crossply.functions.local_provider_annotations import provider_directory
from crossply.values import Object
from crossply.values.file_times import FileTimes, read_file_times
from crossply.xpkg.failures import BuildFailed
from crossply.xpkg.image_reference import parse
from crossply.xpkg.package_build import reading
from crossply.xpkg.package_directory import read_directory

POLL_SECONDS = 2.0
"""How often the files of a directory are checked for changes."""
_META, _CONTENT = "crossplane.yaml", "package"
_MOST_FILES = 20_000


class _KnownDirectory(NamedTuple):
    times: FileTimes
    digest: str


class DirectoryPackages:
    """Reads the packages of directories, where the operator allows it."""

    def __init__(self, check_host_access: Check) -> None:
        self._check_host_access = check_host_access
        self._known: dict[str, _KnownDirectory] = {}

    async def digest(self, provider: Object) -> str:
        """The digest of the package of a Provider that names a directory; raises what is wrong with it."""
        self._check_host_access(provider)
        return await asyncio.to_thread(self._digest, provider_directory(provider))

    async def fetch(self, revision: Object) -> Fetched:
        """The package of a revision, as its directory has it now."""
        self._check_host_access(revision)
        directory = provider_directory(revision)
        stream = await asyncio.to_thread(read_stream, directory)
        image = str(revision["spec"].get("image", ""))
        resolved = Resolved(image, parse(image).at(_digest_of(stream)))
        return Fetched(resolved, await read_package_content(stream, directory))

    def _digest(self, directory: str) -> str:
        times = _file_times(directory)
        known = self._known.get(directory)
        if known is None or known.times != times:
            known = self._known[directory] = _KnownDirectory(times, _digest_of(read_stream(directory)))
        return known.digest


def read_stream(directory: str) -> bytes:
    """The files of a provider's package as one stream."""
    meta, content = (os.path.join(directory, name) for name in (_META, _CONTENT))
    with reading():
        streams = [read_directory(path).text for path in (meta, content) if os.path.exists(path)]
    if not os.path.exists(meta) and not os.path.exists(os.path.join(content, _META)):
        raise BuildFailed(
            f"there is no {_META} in {directory}",
            hint="name the directory of a provider: one that crossply provider init made, for example",
        )
    return b"".join(streams)


def _digest_of(stream: bytes) -> str:
    return f"sha256:{hashlib.sha256(stream).hexdigest()}"


def _file_times(directory: str) -> FileTimes:
    paths = [os.path.join(directory, _META)]
    for folder, _, names in os.walk(os.path.join(directory, _CONTENT)):
        paths += [os.path.join(folder, name) for name in names]
        if len(paths) > _MOST_FILES:
            raise BuildFailed(f"{directory} has more than {_MOST_FILES} files")
    return read_file_times(paths)
