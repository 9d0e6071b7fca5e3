"""The commands certify and recheck, for lower bounds on separation ranks."""

import json

from depthlaw.ledger.cli.arguments import main


def test_certify_and_recheck(tmp_path, capsys):
    file = tmp_path / "certificate.json"
    assert main(["certify", "2", "2", str(file)]) == 0
    assert main(["recheck", str(file)]) == 0
    assert "the certificate is valid" in capsys.readouterr().out
    data = json.loads(file.read_text())
    data["weights"]["key"][0][0][0][0] += 1
    file.write_text(json.dumps(data))
    assert main(["recheck", str(file)]) == 1
    assert main(["certify", "2", "2", str(file)]) == 2
    assert "--force" in capsys.readouterr().err
