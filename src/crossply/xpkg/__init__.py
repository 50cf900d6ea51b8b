"""Packages: what Configurations, Functions and Providers are delivered in.

A package is an OCI image with a stream of YAML in it. `package_build` makes one of a directory,
`package_stream_extraction` finds the stream in one, `archive_reader` and `archive_writer` read and write
images as files, `registry_session` talks to registries, and `layer_unpack` puts the file system of an image
into a directory.
"""
