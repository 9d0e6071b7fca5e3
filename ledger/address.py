"""Where depthlaw is published: the one place that says so is [project.urls] of pyproject.toml,
which `.ci/address` writes. As long as nobody has published it there is no address, and nothing
prints one."""

from __future__ import annotations

from importlib.metadata import metadata
from typing import NamedTuple


class Address(NamedTuple):
    """Where depthlaw is published; empty where it is not.

    Attributes:
        site: the address of the pages, which ends in a slash.
        repository: that of the repository.
    """

    site: str = ""
    repository: str = ""

    @property
    def first(self) -> str:
        """The one to cite: the pages, or else the repository."""
        return self.site or self.repository


def address() -> Address:
    """What the installed package says of itself."""
    lines = metadata("depthlaw").get_all("Project-URL") or []
    urls = dict(line.split(", ", 1) for line in lines)
    return Address(urls.get("Homepage", ""), urls.get("Repository", ""))
