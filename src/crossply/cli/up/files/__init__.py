"""The files of `crossply up FILES`: applied at the start, and with --watch after every save.

`file_set` reads them, `applier` sorts and applies them, `apply_loop` shows what comes of them, and
`live_view` paints that and says what a save changed. `apply_loop` is the whole.
"""
