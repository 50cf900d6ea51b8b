"""Rendering without a cluster: inputs read from files, functions found and started, documents written."""
