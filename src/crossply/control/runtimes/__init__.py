"""Running what packages bring: certificates for calls, and Deployments on Kubernetes."""
