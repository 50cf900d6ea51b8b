"""Turning one written form into another: old Compositions into pipelines, claims into composite resources,
examples into definitions.

Pure: an object comes in, another one goes out, and with it where its parts went (`moves`), so that the
comments of a file can follow them. The commands that read and write the files are in `cli`.
"""
