"""Packages: what Configurations, Functions and Providers are delivered in.

A package is an OCI image with a stream of YAML in it. `building` makes one of a directory, `contents` finds
the stream in one, `archive` and `archive_writing` read and write images as files, `registry_session` talks to
registries, and `unpacking` puts the file system of an image into a directory.
"""
