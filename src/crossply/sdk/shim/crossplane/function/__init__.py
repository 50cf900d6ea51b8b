"""`crossplane.function` on Crossply: the modules of the published Python SDK, with their answers."""
