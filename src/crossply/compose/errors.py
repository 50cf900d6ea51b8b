"""What can go wrong while resources are composed.

The sentences are Crossplane's, since users search for them; the hints are ours.
"""

from __future__ import annotations

from crossply.errors import CrossplyError


class ComposeError(CrossplyError):
    """Resources could not be composed, and nothing was changed."""

    code = "CP-200"
    hint = "nothing was applied; fix the cause and the next run starts afresh"


class SelectionError(ComposeError):
    """No Composition, or no revision of one, matches the composite resource."""

    code = "CP-201"
    hint = "compare the Composition's compositeTypeRef and labels with the composite resource"


class IncompatibleComposition(ComposeError):
    """The selected Composition composes another kind."""

    code = "CP-202"
    hint = "spec.compositeTypeRef of the Composition must be the composite resource's apiVersion and kind"


class ObservedError(ComposeError):
    """A composed resource that exists cannot be taken into account."""

    code = "CP-203"
    hint = "every composed resource carries the annotation crossplane.io/composition-resource-name"


class StepFailed(ComposeError):
    """A function returned a fatal result."""

    code = "CP-207"
    hint = "the message comes from the function; check the step's input and the fields that it reads"

    def __init__(self, message: str, *, function: str = "", place: str = "", hint: str = "") -> None:
        """`function` is the name of the Function."""
        super().__init__(message, place=place, hint=hint)
        self.function = function


class StepNotRun(ComposeError):
    """A function could not be called, or what it needs could not be read."""

    code = "CP-208"


class BootstrapMissing(StepNotRun):
    """The resources that a step requires from its first call on could not be read."""

    code = "CP-219"


class CredentialMissing(ComposeError):
    """A Secret that a step needs as a credential does not exist."""

    code = "CP-209"
    hint = "create the Secret, or pass it to render with --function-credentials"


class RequirementsUnstable(ComposeError):
    """A function asks for something else every time it is called."""

    code = "CP-210"
    hint = "a function's requirements must depend only on its request; raise maxIterations if it needs more"


class TooManyRequirements(ComposeError):
    """A function asks for more resources, schemas and watches than one step may have."""

    code = "CP-226"
    hint = "ask for resources by labels instead of one by one, or split the step"


class RunTooLong(ComposeError):
    """All the steps of a pipeline together took longer than one run may take."""

    code = "CP-227"
    hint = "look at which function is slow, or is called again and again because of its requirements"


class RequirementRefused(ComposeError):
    """A function requires resources that its step does not allow."""

    code = "CP-211"
    hint = "add a rule to the step's allowedExtraResources if the function may see them"


class ExtraResourcesDisabled(ComposeError):
    """A function requires resources where the control plane provides none."""

    code = "CP-221"
    hint = "start the control plane without --enable-composition-functions-extra-resources=false"


class ComposedResourceError(ComposeError):
    """A function desires a resource that cannot be composed."""

    code = "CP-212"
    hint = "check the metadata that the function sets on this resource"


class OperationResourceError(ComposeError):
    """An Operation desires a resource that cannot be applied."""

    code = "CP-220"
    hint = "an Operation generates no names: the function must set apiVersion, kind, name and namespace"


class CollectionRefused(ComposeError):
    """A resource that is no longer desired is controlled by another object."""

    code = "CP-213"
    hint = "remove the owner reference of the other controller, or desire the resource again"


class ContractBroken(ComposeError):
    """A Composition does not provide each connection detail of its definition exactly once."""

    code = "CP-218"
    hint = "list each key of the definition once among the connectionDetails of the Composition's resources"


class OutOfBounds(ComposeError):
    """A resource is in a place where this kind of composite resource may not compose."""

    code = "CP-217"
    hint = "an application composes only within its namespace, infrastructure only cluster-scoped resources"


class TooManyResources(ComposeError):
    """Functions desire more composed resources than one composite resource may have."""

    code = "CP-222"
    hint = "split it into several composite resources, or raise --max-composed-resources"


class CompositionLoop(ComposeError):
    """A composite resource composes itself, or is one of a chain that does not end."""

    code = "CP-813"
    hint = "look for a Composition that composes the kind that it is for, or a kind above it"


class RenderInputError(CrossplyError):
    """The inputs of render could not exist together in a control plane."""

    code = "CP-215"
