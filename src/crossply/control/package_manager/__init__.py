"""Packages in a control plane: what is installed, in which revisions, with which dependencies."""
