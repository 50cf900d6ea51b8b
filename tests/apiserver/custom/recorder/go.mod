module recorder

go 1.26.0

require k8s.io/apiextensions-apiserver v0.36.3
