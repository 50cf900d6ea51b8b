"""Packages in a control plane: what is installed, in which revisions, and what those depend on."""
