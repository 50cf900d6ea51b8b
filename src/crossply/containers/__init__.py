"""Containers without a daemon: images unpacked into a store, started by crun or runc as an ordinary user.

`functions` calls what runs in them; `control` decides what shall run.
"""
