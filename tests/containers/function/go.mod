module crossply.dev/tests/function

go 1.24
