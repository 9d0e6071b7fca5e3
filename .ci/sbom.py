"""Write the SBOM of an environment that holds depthlaw alone, with what no package manager knows:
the scripts that the wheel itself carries, and the pandoc within pypandoc_binary.

    python .ci/sbom.py PYTHON FOLDER     # that environment's python; writes NAME-VERSION.cdx.json
"""

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
VERSION = "import pypandoc; print(pypandoc.get_pandoc_version())"


def printed(command: list[str]) -> str:
    """What a command prints."""
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def carried(python: str) -> list[dict[str, Any]]:
    """The components that are part of others, each with the name of what carries it."""
    version = printed([python, "-c", VERSION]).strip()
    found: list[dict[str, Any]] = [
        {
            "name": "pandoc",
            "version": version,
            "purl": f"pkg:github/jgm/pandoc@{version}",
            "type": "application",
            "licenses": [{"license": {"id": "GPL-2.0-or-later"}}],
            "carried by": "pypandoc_binary",
        }
    ]
    for entry in json.loads((ROOT / "requirements/vendored.json").read_text()):
        if entry["in the wheel"]:
            script = (ROOT / entry["folder"] / entry["main"]).read_bytes()
            found.append(
                {
                    "name": entry["name"],
                    "version": entry["version"],
                    "type": "library",
                    "purl": f"pkg:npm/{entry['name'].replace('@', '%40')}@{entry['version']}",
                    "licenses": [{"license": {"id": entry["license"]}}],
                    "carried by": "depthlaw",
                    "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(script).hexdigest()}],
                }
            )
    return found


def main(python: str, folder: str) -> None:
    """Write the SBOM."""
    tool = Path(sys.executable).parent / "cyclonedx-py"
    how = "environment --output-reproducible --spec-version 1.6 --pyproject pyproject.toml"
    bom = json.loads(printed([str(tool), *how.split(), python]))
    of = bom["metadata"]["component"]
    refs = {part["name"]: part["bom-ref"] for part in (of, *bom["components"])}
    for part in carried(python):
        carrier = refs[part.pop("carried by")]
        bom["components"].append(part | {"bom-ref": part["purl"]})
        bom["dependencies"].append({"ref": part["purl"]})
        (node,) = (node for node in bom["dependencies"] if node["ref"] == carrier)
        node.setdefault("dependsOn", []).append(part["purl"])
    target = Path(folder) / f"{of['name']}-{of['version']}.cdx.json"
    target.write_text(json.dumps(bom, indent=2, sort_keys=True) + "\n")
    print(f"{target.name}: {len(bom['components'])} components")


main(*sys.argv[1:])
