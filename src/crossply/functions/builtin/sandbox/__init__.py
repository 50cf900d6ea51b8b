"""Running user programs in processes that can only compute.

`pool` is the entry point: it sends a program and a question to a worker and waits for the answer. Each
worker is a fork of a `zygote`, a process that has imported the language and nothing else. A worker serves
one program only. Before it runs the program, `confinement` removes its access to files, network and
processes, and limits its memory. A worker that takes too long or crashes is killed alone.

Parent and worker exchange `frames`. A language is a module with `prepare` and `load`; see `worker`.
"""
