"""function-shell: run a shell command in a container and write what it prints to fields of the XR.

`function` is the entry point. `parameters` decodes the input, `variables` computes the environment of the
command, and `container_command` runs it, if the operator allows it (`access`).
"""
