"""A row of the table of hostile inputs."""

import dataclasses


@dataclasses.dataclass
class Row:
    """An error in an input or command, and the message that it must cause."""
    name: str  # what is wrong
    files: dict  # contents by name, as table.write_files takes them
    command: list  # with `hftac` or `sweep`
    codes: tuple  # documented exit codes
    texts: tuple  # what the one error must hold
