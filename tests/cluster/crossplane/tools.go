//go:build tools

// Package tools names the programs that build.sh builds, so that `go mod tidy` keeps what they need.
package tools

import _ "github.com/crossplane/crossplane/v2/cmd/crossplane"
