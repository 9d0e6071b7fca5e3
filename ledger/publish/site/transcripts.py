"""Transcripts in hand-written pages: every `$ depthlaw ...` in a block marked console, with what it
prints. They are committed, for whoever reads a page where it stands; a test compares them.

    python -m depthlaw.ledger.publish.site.transcripts README.md docs/depth.md   # run them again
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

_BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.DOTALL | re.MULTILINE)
_PROMPT = "$ depthlaw "


def renewed(text: str, folder: Path) -> str:
    """A page with its transcripts as the commands print them now.

    Args:
        text: of the page.
        folder: where the commands are run; files that they name are found there.
    """
    return _BLOCK.sub(lambda block: "\n".join(_lines(block[0], folder)) + "\n", text)


def _lines(block: str, folder: Path) -> Iterator[str]:
    commands = [line for line in block.splitlines() if line.startswith(_PROMPT)]
    for i, command in enumerate(commands):
        done = subprocess.run(
            [sys.executable, "-m", "depthlaw", *shlex.split(command.removeprefix(_PROMPT))],
            cwd=folder,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        yield from [""] * (i > 0)
        yield command
        yield from done.stdout.splitlines()


def folder_of(page: Path) -> Path:
    """Where commands of a page are run: in the folder `examples` beside it, or else in its own."""
    examples = page.parent / "examples"
    return examples if examples.is_dir() else page.parent


def main(paths: list[str]) -> None:
    """Renew the transcripts of pages."""
    for path in map(Path, paths):
        text = renewed(path.read_text(encoding="utf-8"), folder_of(path))
        path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
