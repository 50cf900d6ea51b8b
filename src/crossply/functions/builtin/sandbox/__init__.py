"""Running what users write in processes that can do nothing but compute.

`pool` is the door: it hands a program and a question to a worker and waits for the answer. Every worker is
a fork of a `nursery`, a process that has imported what the language needs and nothing else; it serves one
program only, so that programs never meet. Before it runs a line of it, it goes behind `walls`: no files, no
network, no processes, little memory. One that takes too long, or breaks, is killed alone.

Parent and worker talk in `frames`. A language is a module with `prepare` and `load`; see `worker`.
"""
