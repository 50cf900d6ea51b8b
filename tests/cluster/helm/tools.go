//go:build tools

// Package tools names Helm, so that `go mod tidy` keeps what it needs. It goes with newer libraries of Kubernetes
// than the programs of the cluster do.
package tools

import _ "helm.sh/helm/v3/cmd/helm"
