"""Transcripts in hand-written pages: every `$ depthlaw ...` in a block marked console, with what it
prints. They are committed, for whoever reads a page where it stands; a test compares them.

    python -m depthlaw.ledger.publish.site.transcripts README.md docs/depth.md   # run them again
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from glob import glob
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

_BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.DOTALL | re.MULTILINE)
_PROMPT = "$ depthlaw "
# As in a terminal of 80 columns that knows no colours.
TERMINAL = {"COLUMNS": "80", "FORCE_COLOR": "1", "TERM": "dumb"}
Printed = Callable[[list[str], Path], str]


def _printed(words: list[str], folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "depthlaw", *words],
        cwd=folder,
        env=os.environ | TERMINAL | {"XDG_DATA_HOME": str(folder.parent / "data")},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    # A search of a statement that was weakened finds something.
    if done.returncode != ("--weaken" in words) or "Traceback" in done.stdout:
        raise RuntimeError(f"a command of a page fails: {shlex.join(words)}\n{done.stdout}")
    return done.stdout


def renewed(text: str, folder: Path | None, printed: Printed = _printed) -> str:
    """A page with its transcripts as the commands print them now.

    Args:
        text: of the page.
        folder: with the files that commands name, also as docs/examples; the commands of a page run
            one after the other in one copy of it, where they may write.
        printed: what a command prints, run in a folder.
    """
    with TemporaryDirectory() as place:
        copy = Path(place) / "here"
        shutil.copytree(folder, copy) if folder else copy.mkdir()
        (copy / "docs").mkdir()
        (copy / "docs/examples").symlink_to(copy)
        return _BLOCK.sub(lambda block: "\n".join(_lines(block[0], copy, printed)) + "\n", text)


def _lines(block: str, folder: Path, printed: Printed) -> Iterator[str]:
    commands = [line for line in block.splitlines() if line.startswith(_PROMPT)]
    for i, command in enumerate(commands):
        words = shlex.split(command.removeprefix(_PROMPT))
        names = [sorted(glob(word, root_dir=folder)) or [word] for word in words]
        yield from [""] * (i > 0)
        yield command
        text = printed(list(chain.from_iterable(names)), folder)
        yield from (line.rstrip() for line in text.splitlines())


def folder_of(page: Path) -> Path | None:
    """The folder `examples` beside a page, or beside its folder, with the files that its commands
    name, if there is one."""
    near = (folder / "examples" for folder in page.parents[:2])
    return next(filter(Path.is_dir, near), None)


def main(paths: list[str]) -> None:
    """Renew the transcripts of pages."""
    for path in map(Path, paths):
        text = renewed(path.read_text(encoding="utf-8"), folder_of(path))
        path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
