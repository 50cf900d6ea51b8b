"""Tests of Compositions: suites of cases, played round by round on the engine that `render` uses.

`reading` makes a `suite` of a file, `playing` reconciles a composite resource again and again, `expecting`
and `snapshots` compare what came of it, `coverage` tells what no case reached, `report` and `junit` tell
people and programs. Nothing here reads files or calls functions: the command line and the pytest plugin
bring both.
"""
