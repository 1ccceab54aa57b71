#!/usr/bin/env python3
"""Steers a search of Hfta while it runs, by the socket of `train --control SOCKET`:

    python3 -m hfta.client SOCKET status
    python3 -m hfta.client SOCKET stop 3 5
    python3 -m hfta.client SOCKET set 3 5 set='{"lr":0.01}'
    python3 -m hfta.client SOCKET more count=4
    python3 -m hfta.client SOCKET events
    python3 -m hfta.client SOCKET < requests.jsonl

Prints answers and events, which docs/search.md describes; the exit code is 1 if a request was
refused. Needs only Python's standard library.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Optional, Union


class SearchError(Exception):
    """The message of a search that refuses a request, or of a connection that has ended."""


class Search:
    """A connection to a running search. Its methods send requests and return the answers,
    which come when the search is between two evaluations; they raise SearchError if it
    refuses. Any thread may call them; one thread at a time reads the events.

    What the search sends is read by a thread of its own, so events wait in memory, however
    late they are asked for. In answers and events, numbers that aren't finite are the strings
    "nan", "inf" and "-inf", which float() takes."""

    def __init__(self, where: Union[str, os.PathLike, Sequence], wait: float = 30,
                 **options: Any) -> None:
        """Connects to the socket `where`, for which it waits up to `wait` seconds. If `where`
        is a list, such as ["./tune", "train"], starts this command with `--control -`, and
        with `options` for subprocess.Popen."""
        self.process: Optional[subprocess.Popen] = None
        self._socket: Optional[socket.socket] = None
        if isinstance(where, (str, os.PathLike)):
            self._socket = _connect(os.fspath(where), wait)
            source, self._target = (self._socket.makefile(mode) for mode in ("rb", "wb"))
        else:
            self.process = subprocess.Popen([*where, "--control", "-"], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, **options)
            source, self._target = self.process.stdout, self.process.stdin
        self._lock = threading.Lock()
        self._answers: queue.Queue = queue.Queue()
        self._events: queue.Queue = queue.Queue()
        self._reader = threading.Thread(target=self._read, args=(source,), daemon=True)
        self._reader.start()

    def _read(self, source: Iterable[bytes]) -> None:
        # It ends when the connection is closed, or if a killed program leaves a part of a line.
        with contextlib.suppress(OSError, ValueError):
            for line in source:
                value = json.loads(line)
                (self._events if "event" in value else self._answers).put(value)
        self._answers.put(None)
        self._events.put(None)

    def ask_line(self, line: str) -> dict:
        """Sends one line as it is, and returns its answer, whether `ok` is true or false."""
        with self._lock:
            with contextlib.suppress(OSError, ValueError):  # The search may have ended.
                self._target.write(line.encode() + b"\n")
                self._target.flush()
            answer = self._answers.get()
            if answer is None:
                self._answers.put(None)
                raise SearchError("the search has ended, or has closed the connection")
        return answer

    def ask(self, command: str, **fields: Any) -> dict:
        answer = self.ask_line(json.dumps({"command": command, **fields}))
        if not answer["ok"]:
            raise SearchError(answer["error"])
        return answer

    def status(self, trials: Optional[Iterable[int]] = None) -> dict:
        return self.ask("status", **({} if trials is None else {"trials": list(trials)}))

    def add(self, settings: Iterable[dict[str, float]]) -> list[int]:
        """Adds a trial for each of the settings; returns their numbers."""
        return self.ask("add", settings=list(settings))["trials"]

    def more(self, count: int) -> list[int]:
        """Adds trials that the sampler draws; returns their numbers."""
        return self.ask("more", count=count)["trials"]

    def ask_trials(self, count: int) -> list[tuple[int, Optional[dict[str, float]]]]:
        """Adds trials that the sampler draws, but lets them wait for `resume`; returns their
        numbers and settings, None where these depend on scores that aren't there yet."""
        answer = self.ask("ask", count=count)
        return list(zip(answer["trials"], answer["settings"]))

    def tell(self, trial: int, at: int, score: Union[float, str]) -> dict:
        """Gives a trial its score after `at` epochs, in a search whose objective is
        external."""
        finite = isinstance(score, str) or math.isfinite(score)
        return self.ask("tell", trial=trial, at=at, score=score if finite else str(score))

    def clone(self, trial: int, set: dict[str, float], warm: bool = True) -> int:
        """Adds a trial with another one's settings but for those of `set`, and with its state
        if `warm`; returns its number."""
        return self.ask("clone", trial=trial, set=set, warm=warm)["trials"][0]

    def stop(self, trials: Iterable[int]) -> dict:
        return self.ask("stop", trials=list(trials))

    def pause(self, trials: Iterable[int]) -> dict:
        return self.ask("pause", trials=list(trials))

    def resume(self, trials: Iterable[int]) -> dict:
        return self.ask("resume", trials=list(trials))

    def set(self, trials: Iterable[int], set: dict[str, float]) -> dict:
        return self.ask("set", trials=list(trials), set=set)

    def save(self) -> dict:
        return self.ask("save")

    def hold(self) -> dict:
        """Lets the search wait for requests where it would end, until it gets `end`."""
        return self.ask("hold")

    def end(self, now: bool = False) -> dict:
        return self.ask("end", now=now)

    def events(self, timeout: Optional[float] = None) -> Iterator[dict]:
        """Yields each event since the connection was made, until the search ends, or until
        none has come for `timeout` seconds."""
        with contextlib.suppress(queue.Empty):
            while (event := self._events.get(timeout=timeout)) is not None:
                yield event
            self._events.put(None)

    __iter__ = events

    def close(self) -> Optional[int]:
        """Closes the connection. Waits for the program, if the connection has started one, to
        end its search, and returns its exit code."""
        with contextlib.suppress(OSError):  # The search may have gone first.
            self._target.close()
        if self._socket:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
            self._socket.close()
        self._reader.join()
        return self.process.wait() if self.process else None

    def __enter__(self) -> Search:
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind and self.process:
            self.process.send_signal(signal.SIGINT)  # The search saves what it has.
        self.close()


def _connect(path: str, wait: float) -> socket.socket:
    end = time.monotonic() + wait
    while True:
        channel = socket.socket(socket.AF_UNIX)
        try:
            channel.connect(path)
            return channel
        except OSError as error:
            channel.close()
            waits = isinstance(error, (FileNotFoundError, ConnectionRefusedError))
            if not waits or time.monotonic() > end:
                raise SearchError(f"cannot connect to '{path}': {error}") from None
        time.sleep(0.05)


def _make_request(command: str, words: Sequence[str]) -> str:
    """Returns a request. Words are numbers of trials, and other fields as NAME=JSON."""
    fields = dict(word.split("=", 1) for word in words if "=" in word)
    request = {name: json.loads(text) for name, text in fields.items()}
    trials = [int(word) for word in words if "=" not in word]
    return json.dumps({"command": command, **request, **({"trials": trials} if trials else {})})


def main() -> Optional[int]:
    path, *words = sys.argv[1:] or ["--help"]
    if path == "--help":
        return print(__doc__)
    lines, code = [_make_request(words[0], words[1:])] if words else sys.stdin, 0
    with Search(path, wait=5) as search:
        answers = map(search.ask_line, filter(None, map(str.strip, lines)))
        for value in search if words == ["events"] else answers:
            print(json.dumps(value), flush=True)
            code |= not value.get("ok", True)
    return int(code)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (SearchError, ValueError) as error:
        sys.exit(f"error: {error}")
