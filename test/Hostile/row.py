"""A row of the table of hostile inputs."""

import dataclasses


@dataclasses.dataclass
class Row:
    """Something wrong, and what is said about it."""
    name: str  # what is wrong
    files: dict  # contents by name, as table.write_files takes them
    command: list  # with `hftac` or `sweep`
    codes: tuple  # documented exit codes
    texts: tuple  # what the one error must hold
