module crossply.dev/tests/provider

go 1.24
