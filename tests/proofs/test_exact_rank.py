"""The stored certificate that the kernel reads."""

import json

from depthlaw.theory.claims.formal import source
from depthlaw.theory.formal.exact_rank import exact_file
from depthlaw.theory.separation_rank import rank_certificate


def test_the_file_is_made_of_the_certificate():
    assert source("Exact") == exact_file()


def test_the_weights_and_the_rank_are_those_of_the_certificate():
    data, text = rank_certificate.certificate(2, 2), " ".join(source("Exact").split())
    for matrices in data["weights"].values():
        for (matrix,) in matrices:
            assert json.dumps(matrix).replace(",", ";").replace("[", "[:: ") in text
    assert f"(side 6 3)) {data['rank']}." in text
