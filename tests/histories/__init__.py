"""A checker of whole histories: clients, watchers and faults on a real `crossply up` (`make soak`).

`history` is what clients record and `versions` its order; `continuity`, `linearizability`, `snapshots` and
`watch_logs` check it. `plane`, `schedule`, `injection` and `preload` run and disturb the control plane;
`workers`, `watchers` and `composites` use it; `settling` checks its final state.
"""
