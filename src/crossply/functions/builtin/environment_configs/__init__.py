"""function-environment-configs: merge EnvironmentConfigs into the environment that later steps read.

`function` is the entry point, `merge` merges the data, `field_provenance` traces which config they are from,
with `environment_layers`.
"""
