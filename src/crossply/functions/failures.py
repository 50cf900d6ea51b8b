"""The errors of function calls, however the function is run.

Messages are those of Crossplane and gRPC for Go, since users search for them; the hints are ours.
"""

from __future__ import annotations

from crossply.errors import CrossplyError


class FunctionError(CrossplyError):
    """A function could not be called, or answered with an error."""

    code = "CP-310"
    hint = "look at the function's own log"
    grpc_code = "Unknown"
    """The gRPC status code, in Go's spelling."""

    def __init__(
        self, message: str, *, place: str = "", hint: str = "", function: str = "", grpc_code: str = ""
    ) -> None:
        super().__init__(message, place=place, hint=hint)
        self.function = function
        """The Function that the message names; empty where it names none."""
        if grpc_code:
            self.grpc_code = grpc_code


class FunctionUnavailable(FunctionError):
    """The function cannot be reached."""

    code = "CP-311"
    grpc_code = "Unavailable"
    hint = "start the function, or correct its address"


class FunctionNotRunning(FunctionUnavailable):
    """The revision that the step calls does not run, and nothing responds at its endpoint."""

    code = "CP-325"
    hint = "see why it does not run: kubectl describe functionrevision NAME"


class FunctionTimedOut(FunctionError):
    """The function did not answer in time."""

    code = "CP-312"
    grpc_code = "DeadlineExceeded"
    hint = "look at why the function takes so long, or raise --timeout"


class FunctionReplyTooLarge(FunctionError):
    """The function's answer is larger than the limit for a message."""

    code = "CP-313"
    hint = "a function's answer may have 4 MiB: let it desire fewer or smaller resources"


class FunctionReplyDamaged(FunctionError):
    """The function's answer cannot be read."""

    code = "CP-314"
    hint = "is the address that of a function? It must serve apiextensions.fn.proto.v1 or v1beta1 over gRPC"


class FunctionCrashed(FunctionError):
    """The function ended, or raised an exception, while it was being called."""

    code = "CP-315"
    hint = "the last lines that the function wrote say why"


class FunctionNotBound(FunctionError):
    """There is no way to run the function here."""

    code = "CP-316"
    hint = "list the function in the functions file, or add an annotation that says how to run it"


class RuntimeAnnotationError(FunctionError):
    """An annotation that says how a function is run has a value that is not known."""

    code = "CP-317"
    hint = "docs/how-to/run-functions-locally.md lists the annotations"


class ContainerEngineUnavailable(FunctionError):
    """No container engine responds."""

    code = "CP-320"
    hint = "start Docker or podman's socket and set DOCKER_HOST, or run the function another way"


class ContainerFailed(FunctionError):
    """The container engine refused the request, or the function's container did not start."""

    code = "CP-321"
    hint = "try the same image by hand: docker run IMAGE --insecure"


class ServeError(FunctionError):
    """A function cannot be served as asked."""

    code = "CP-322"
    hint = ""


class FunctionSettingsWrong(FunctionError):
    """The limits of a function cannot be parsed."""

    code = "CP-323"
    hint = "limits are quantities such as 64Mi and 250m, and timeouts durations such as 20s"
