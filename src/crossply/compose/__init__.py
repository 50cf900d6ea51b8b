"""The pure core: selection, pipeline, naming, references, readiness, outcome."""
