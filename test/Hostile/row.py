"""A row of the table of hostile inputs."""

import dataclasses


@dataclasses.dataclass
class Row:
    """An error in an input or command, and the message that it must cause."""
    name: str  # a title for what is wrong
    files: dict  # contents by name, as table.write_files takes them
    command: list  # with `hftac` or `sweep`
    codes: tuple  # documented exit codes
    texts: tuple  # texts that the one error must hold
