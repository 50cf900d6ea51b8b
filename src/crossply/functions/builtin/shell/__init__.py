"""function-shell: run a shell command in a container and write what it prints to fields of the XR.

`function` is the entry point and computes the environment of the command. `parameters` decodes the input, and
`container_command` runs the command, if the operator allows it (`access`).
"""
