//go:build tools

// Package tools names the programs that check workflows and manifests, so that `go mod tidy` keeps what they need.
package tools

import (
	_ "github.com/rhysd/actionlint/cmd/actionlint"
	_ "github.com/yannh/kubeconform/cmd/kubeconform"
)
