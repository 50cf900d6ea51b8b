"""What can go wrong with packages, as a tree."""

from __future__ import annotations

from crossply.errors import CrossplyError


class PackagesError(CrossplyError):
    """A package could not be read, built, fetched or stored."""

    code = "CP-900"


class BadReference(PackagesError):
    """A text does not name an image: registry/repository with a tag or a digest."""

    code = "CP-901"
    hint = "write it as registry/repository:tag, for example registry.example.org/team/function:v1.0.0"


class BadArchive(PackagesError):
    """A file is not an image (xpkg, image tarball or OCI layout), or is damaged."""

    code = "CP-902"


class BadStream(PackagesError):
    """The YAML of a package cannot be understood."""

    code = "CP-903"


class LintFailed(PackagesError):
    """A package contains something that its kind of package must not contain, or lacks a required part."""

    code = "CP-904"


class BuildFailed(PackagesError):
    """A package could not be built from its directory."""

    code = "CP-905"


class TooLarge(PackagesError):
    """A part of an image exceeds its size limit, and is not read."""

    code = "CP-906"


class WrongDigest(PackagesError):
    """Content does not match its digest: it was changed or cut off, or is something else."""

    code = "CP-907"
    hint = "fetch it again; if it happens again, do not trust the registry"


class UnsafeEntry(PackagesError):
    """A layer contains an entry that could reach outside of its directory, or that no function needs."""

    code = "CP-908"
    hint = "do not use this image, or have it rebuilt"


class NoDiskSpace(PackagesError):
    """An image cannot be written to disk: the disk is full or would be, or the write failed."""

    code = "CP-909"
    hint = "free disk space where packages and images are kept, then the image is pulled again"
