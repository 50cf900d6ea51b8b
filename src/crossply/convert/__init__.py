"""Conversions between forms of objects.

Native Compositions become pipelines, claims composite resources, version 1 becomes version 2, examples become
definitions. Pure: an object in, another one out, with the list of moved fields (`conversion.Move`), so that
the comments of a file can follow them. The commands that read and write the files are in `cli`.
"""
