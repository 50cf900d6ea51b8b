"""Projects: packages that are developed together, their functions and their dependencies."""

PROJECT_FILE = "crossplane-project.yaml"
