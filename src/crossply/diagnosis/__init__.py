"""Why a resource is not ready, why it uses this Composition, and what blocks its deletion."""
