"""function-cel-filter: expressions decide which composed resources stay, and whether a pipeline may go on.

`function` is the door, `input` reads the step, `expressions` asks the worker whose language `worker` is.
"""
