[package]
name = "plan"
version = "0.0.1"

[dependencies]
layout = { path = "../../modules/layout" }
models = { path = "../../.up/kcl/models" }
