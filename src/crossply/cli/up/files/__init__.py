"""The files of `crossply up FILES`: applied at the start, and with --watch after every save.

`file_set` reads them, `apply_order` sorts them, `applier` applies them, `apply_loop` shows what comes of
them, and `save_report` says what a save changed. `apply_loop` is the whole.
"""
