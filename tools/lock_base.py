"""Pin the packages of Debian that the base of the image is made of: deploy/base-packages.json.

It needs gpgv, dpkg and Debian's keys (debian-archive-keyring), which check the signatures of the archive.
"""

from __future__ import annotations

from distribution.debian_index import newest
from distribution.debian_lock import write_lock

if __name__ == "__main__":
    write_lock(newest())
