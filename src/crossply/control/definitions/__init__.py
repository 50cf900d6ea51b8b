"""Definitions become kinds: CRDs, roles, controllers that start and stop; Compositions become revisions."""
