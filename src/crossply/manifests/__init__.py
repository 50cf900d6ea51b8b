"""YAML manifests: read from the files, directories and streams that users name, and written."""
