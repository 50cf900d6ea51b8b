"""What can go wrong with containers, as a tree."""

from __future__ import annotations

from crossply.errors import CrossplyError


class ContainerError(CrossplyError):
    """A container could not be started, or failed."""

    code = "CP-330"


class NoContainerEngine(ContainerError):
    """No container runtime is installed."""

    code = "CP-331"
    hint = "install crun (or runc), for example with: apt-get install crun"


class ContainersForbidden(ContainerError):
    """This machine does not allow Crossply to create the namespaces that containers need."""

    code = "CP-332"
    hint = (
        "allow user namespaces: sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, and "
        "kernel.apparmor_restrict_unprivileged_userns where the system has them"
    )


class BadImage(ContainerError):
    """An image cannot be run: it names no command, or a user that it does not have."""

    code = "CP-333"
    hint = "check that the image has an entry point and is built for this machine's architecture"


class ContainerExited(ContainerError):
    """A container ended unexpectedly."""

    code = "CP-334"
    hint = "the last lines that it wrote say why"


class OutOfMemory(ContainerExited):
    """A container exceeded its memory limit and was killed."""

    code = "CP-335"
    hint = "raise its memory limit, or reduce its memory usage"


class NotListening(ContainerError):
    """A served container does not accept calls in time."""

    code = "CP-336"
    hint = "it must serve gRPC on port 9443; the last lines that it wrote say what it did instead"


class TookTooLong(ContainerError):
    """A container that runs to completion did not complete in time, and was ended."""

    code = "CP-337"
    hint = "raise its timeout, or look at why it takes so long"


class OutputTooLarge(ContainerError):
    """A container wrote more output than allowed, and was stopped."""

    code = "CP-338"
    hint = "reduce its output"


class ImageMissing(ContainerError):
    """An image is not on this machine, and its pull policy does not allow fetching it."""

    code = "CP-339"
    hint = "use the pull policy IfNotPresent or Always"


class NoOwnNetwork(ContainerError):
    """A container cannot get its own network on this machine."""

    code = "CP-341"
    hint = "install pasta, for example with: apt-get install passt"


class StoreFull(ContainerError):
    """The image store is full, and all its images are in use."""

    code = "CP-340"
    hint = "increase the size of the store, or stop functions that are not needed"
