"""The modules that every script has: `crypto`, `dict`, `encoding`, `regex` and `yaml`."""
