"""The type of the rows in the table of hostile inputs (table.py)."""

import dataclasses


@dataclasses.dataclass
class Row:
    """A wrong input or command, and how the program must report it."""
    name: str  # a title for what is wrong
    files: dict  # maps a path to its contents, as table.write_files takes them
    command: list  # words; `hftac`, `sweep` and such stand for programs
    codes: tuple  # the exit codes that are allowed
    texts: tuple  # texts that the only error message must contain
