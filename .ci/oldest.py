#!/usr/bin/env python3
"""The oldest versions that pyproject.toml allows of what depthlaw always needs, one a line."""

import re
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
for requirement in project["dependencies"]:
    name, oldest = re.match(r"([\w-]+)>=([\w.]+)", requirement).groups()
    print(f"{name}=={oldest}")
