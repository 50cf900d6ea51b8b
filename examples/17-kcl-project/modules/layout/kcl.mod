[package]
name = "layout"
version = "0.0.1"
