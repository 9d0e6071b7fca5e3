"""The table of devices, and names in the spellings that people use."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from depthlaw.advisor.base.quantities import UsageError
from depthlaw.advisor.hardware import devices, gpu


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("NVIDIA H100 80GB HBM3", "H100 SXM"),
        ("nvidia_h100_pcie", "H100 PCIe"),
        ("A100-40GB", "A100 40GB"),
        ("a100-sxm4-80gb", "A100 80GB SXM"),
        ("Tesla V100-SXM2-16GB", "V100 SXM2 16GB"),
        ("GeForce RTX 4090", "RTX 4090"),
        ("rtx3090", "RTX 3090"),
        ("rtx4090", "RTX 4090"),
        ("a100", "A100 80GB SXM"),
        ("NVIDIA H100-SXM5-80GB", "H100 SXM"),
        ("AMD Instinct MI300X", "MI300X"),
        ("Google Cloud TPU v5p", "TPU v5p"),
        ("trillium", "TPU v6e"),
        ("M4 max", "Apple M4 Max"),
        ("Qualcomm Snapdragon 8 Gen 2", "Snapdragon 8 Gen 2"),
        ("A16", "Apple A16"),
    ],
)
def test_names_as_people_spell_them(typed: str, name: str) -> None:
    assert gpu(typed).name == name


def test_every_name_of_the_table_finds_its_row() -> None:
    for device in devices():
        assert all(gpu(name) is device for name in (device.name, *device.also))


@pytest.mark.parametrize(
    ("typed", "nearest"),
    [
        ("H10", "H100 SXM"),
        ("TPU v7", "TPU v"),
        ("", "H100 SXM"),
        ("\x1b[2J", "H100 SXM"),
        ("x" * 10**5, "H100 SXM"),
    ],
)
def test_an_unknown_name_gets_the_nearest_ones(typed: str, nearest: str) -> None:
    with pytest.raises(UsageError, match=r"^the GPU .* is unknown; nearest: ") as caught:
        gpu(typed)
    assert nearest in str(caught.value)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 250


def test_rows_say_where_they_come_from() -> None:
    for d in devices():
        assert d.wording in {"printed", "reported", "recalled", "derived"}
        assert d.source


def test_dense_rates_are_half_of_those_with_sparsity() -> None:
    """As the data sheets print them, in TFLOP/s; of the TPU, its rate in 8 bits."""
    sparse = {"H100": 1979, "H100 NVL": 1671, "H20": 296, "B200": 4500, "GB200": 5000}
    for name, rate in (sparse | {"TPU v6e": 2 * 918}).items():
        assert gpu(name).flops == pytest.approx(rate * 1e12 / 2, rel=1e-3), name


# Multiprocessors (matrix units of a TPU), operations of each per clock, GHz; bits of the memory's
# bus, gigabits per second of each; gigabytes: another route to the data sheets' numbers. Recalled;
# where a bus is not public, its bandwidth is given as one bit's. Devices that share a chip have its
# rate.
with Path(__file__).with_name("clocks.csv").open(newline="") as _file:
    CLOCKS = {row.pop("name"): row for row in csv.DictReader(_file)}
CHIPS = {name: chip for name, row in CLOCKS.items() if (chip := row.pop("chip"))}


@pytest.mark.parametrize("name", CLOCKS)
def test_rates_are_units_times_clocks_and_bits_times_theirs(name: str) -> None:
    device, row = gpu(name), {column: float(cell) for column, cell in CLOCKS[name].items() if cell}
    if "units" in row:
        rate = row["units"] * row["operations"] * row["clock"] * 1e9
        assert device.flops == pytest.approx(rate, rel=0.01)
    if name in CHIPS:
        assert device.flops == gpu(CHIPS[name]).flops
    assert device.bandwidth == pytest.approx(row["bits"] * row["rate"] / 8 * 1e9, rel=0.01)
    assert device.memory == (row["memory"] * 2**30 if "memory" in row else None)


def test_every_device_stands_in_the_table_above() -> None:
    assert {gpu(name).name for name in CLOCKS} == {d.name for d in devices()}
    assert (sum(bool(row["units"]) for row in CLOCKS.values()), len(CHIPS)) == (25, 6)
