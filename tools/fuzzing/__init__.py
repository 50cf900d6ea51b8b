"""What `tools/fuzz.py` feeds to everything that reads what others wrote.

A target makes an input of random numbers and runs code with it. Inputs are plain JSON, so that those which
once failed can be kept in `tests/fuzz_corpus` and tried again, whatever becomes of the random numbers.
"""
