"""The playground: a composite resource rendered while it is typed, with what the control plane has.

The engine is that of `crossply render`. Nothing is written to the cluster, and nothing is read for it but
definitions, Compositions and Functions that the viewer may read.
"""
