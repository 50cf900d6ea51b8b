"""Structural schemas: defaults, pruning, validation, CEL; a definition and its CRDs."""
