"""The kinds of tests/providers/go/thing.go on the kit, for comparing both."""
