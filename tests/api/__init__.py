"""The API suite: what a Kubernetes API server answers, asked of the embedded one and of a real one."""
