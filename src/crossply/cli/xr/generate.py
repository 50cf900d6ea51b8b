"""`crossply xr generate`: generate the composite resource of a claim."""

from __future__ import annotations

from crossply.cli.framework.command import Command, Flag, Invocation
from crossply.cli.framework.input_output_flags import input_file, output_file, read_object, write_output
from crossply.convert.claim_to_composite import CompositeOptions, claim_to_composite
from crossply.errors import CrossplyError
from crossply.values.yaml import dump

# No vowels and no digits that look like letters: a name never spells a word.
_LETTERS = "bcdfghjklmnpqrstvwxz2456789"


def run(invocation: Invocation) -> int:
    """Convert one claim."""
    claim = read_object(invocation, "cannot unmarshal Claim").value
    options = CompositeOptions(
        name=invocation["name"] or "",
        kind=invocation["kind"] or "",
        direct=invocation["direct"] and not invocation["no-direct"],
        uid=_random_uid() if invocation["gen-uid"] else "",
    )
    try:
        xr = claim_to_composite(claim, options, _random_suffix)
    except CrossplyError as problem:
        raise problem.within("cannot convert Claim to XR") from None
    write_output(invocation, f"---\n{dump(xr)}")
    return 0


def _random_suffix() -> str:
    import random

    return "".join(random.choices(_LETTERS, k=5))


def _random_uid() -> str:
    import uuid

    return str(uuid.uuid4())


COMMAND = Command(
    "generate",
    "Generate a composite resource (XR) from a claim.",
    run,
    arguments=(input_file("Claim YAML file to convert"),),
    flags=(
        output_file("generated XR YAML"),
        Flag(
            "name",
            "The name to use for the XR. If empty, defaults to the Claim's name (direct mode) or the Claim's "
            "name with a random suffix (non-direct).",
            kind="string",
            placeholder="NAME",
        ),
        Flag(
            "kind",
            "The kind to use for the XR. Defaults to 'X' prepended to the Claim's kind (for example, "
            "Infra -> XInfra).",
            kind="string",
            placeholder="KIND",
        ),
        Flag("direct", "Create a direct XR without Claim references and suffix."),
        Flag("no-direct", "Take --direct back.", hidden=True),
        Flag("gen-uid", "Set a fresh random metadata.uid on the generated XR."),
    ),
    description=(
        "Writes the composite resource that the control plane would create for a claim: of the "
        "kind X…, with\n"
        "a reference to the claim and its labels. With --direct it does not refer to the claim."
    ),
    examples=(
        "crossply xr generate claim.yaml -o xr.yaml",
        "crossply xr generate claim.yaml --direct --kind XDatabase",
    ),
)
