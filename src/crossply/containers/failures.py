"""What can go wrong with containers, as a tree."""

from __future__ import annotations

from crossply.errors import CrossplyError


class ContainerError(CrossplyError):
    """A container could not be started, or did not do what it was started for."""

    code = "CP-330"


class NoContainerEngine(ContainerError):
    """There is no program that starts containers."""

    code = "CP-331"
    hint = "install crun (or runc), for example with: apt-get install crun"


class ContainersForbidden(ContainerError):
    """This machine does not let us make the namespaces that containers need."""

    code = "CP-332"
    hint = (
        "allow user namespaces: sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, and "
        "kernel.apparmor_restrict_unprivileged_userns where the system has them"
    )


class BadImage(ContainerError):
    """An image cannot be run: it names no command, or a user that it does not have."""

    code = "CP-333"
    hint = "has the image an entry point, and was it made for this machine's architecture?"


class ContainerExited(ContainerError):
    """A container ended although it was to go on."""

    code = "CP-334"
    hint = "the last lines that it wrote say why"


class OutOfMemory(ContainerExited):
    """A container exceeded its memory limit and was killed."""

    code = "CP-335"
    hint = "raise its memory limit, or let it need less"


class NotListening(ContainerError):
    """A served container does not accept calls in time."""

    code = "CP-336"
    hint = "it must serve gRPC on port 9443; the last lines that it wrote say what it did instead"


class TookTooLong(ContainerError):
    """A container that runs to completion did not complete in time, and was ended."""

    code = "CP-337"
    hint = "raise its timeout, or look at why it takes so long"


class OutputTooLarge(ContainerError):
    """A container wrote more than it may, and was ended."""

    code = "CP-338"
    hint = "let it write less"


class ImageMissing(ContainerError):
    """An image is not here, and may not be fetched."""

    code = "CP-339"
    hint = "use the pull policy IfNotPresent or Always"


class NoOwnNetwork(ContainerError):
    """A container cannot have a network of its own here."""

    code = "CP-341"
    hint = "install pasta, for example with: apt-get install passt"


class StoreFull(ContainerError):
    """Images that are in use leave no room for another one."""

    code = "CP-340"
    hint = "give the store more room, or stop functions that are not needed"
