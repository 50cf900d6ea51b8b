"""Read-only typed views of the API kinds."""

PROJECT_FILES = ("crossplane-project.yaml", "upbound.yaml")
"""What the file of a project is called; the first comes first."""
