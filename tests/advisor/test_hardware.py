"""The table of devices, and names in the spellings that people use."""

from __future__ import annotations

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


@pytest.mark.parametrize(
    ("name", "sparse"),
    [
        ("H100", 1979),
        ("H100 NVL", 1671),
        ("H20", 296),
        ("B200", 4500),
        ("GB200", 5000),
        ("TPU v6e", 2 * 918),
    ],
)
def test_dense_rates_are_half_of_those_with_sparsity(name: str, sparse: float) -> None:
    """As the data sheets print them, in TFLOP/s; of the TPU, its rate in 8 bits."""
    assert gpu(name).flops == pytest.approx(sparse * 1e12 / 2, rel=1e-3)


# Multiprocessors (matrix units of a TPU), operations of each per clock, GHz; bits of the memory's
# bus, gigabits per second of each: another route to the data sheets' numbers. Recalled; where a bus
# is not public, its bandwidth is given as one bit's.
@pytest.mark.parametrize(
    ("name", "units", "operations", "clock", "bits", "rate", "memory"),
    [
        ("H100 SXM", 132, 4096, 1.83, 5120, 5.23, 80),
        ("H100 PCIe", 114, 4096, 1.62, 5120, 3.125, 80),
        ("A100 80GB SXM", 108, 2048, 1.41, 5120, 3.186, 80),
        ("A100 40GB", 108, 2048, 1.41, 5120, 2.43, 40),
        ("V100 SXM2 32GB", 80, 1024, 1.53, 4096, 1.758, 32),
        ("T4", 40, 1024, 1.59, 256, 10, 16),
        ("A10", 72, 1024, 1.695, 384, 12.5, 24),
        ("A10G", 80, 512, 1.71, 384, 12.5, 24),
        ("A30", 56, 2048, 1.44, 3072, 2.43, 24),
        ("A40", 84, 1024, 1.74, 384, 14.5, 48),
        ("L4", 58, 1024, 2.04, 192, 12.5, 24),
        ("L40", 142, 512, 2.49, 384, 18, 48),
        ("L40S", 142, 1024, 2.49, 384, 18, 48),
        ("RTX A6000", 84, 1024, 1.8, 384, 16, 48),
        ("V100 PCIe", 80, 1024, 1.37, 4096, 1.758, 16),
        ("RTX 6000 Ada", 142, 1024, 2.505, 384, 20, 48),
        ("RTX 3090", 82, 512, 1.695, 384, 19.5, 24),
        ("RTX 4090", 128, 512, 2.52, 384, 21, 24),
        ("RTX 5090", 170, 512, 2.407, 512, 28, 32),
        ("MI250X", 220, 1024, 1.7, 8192, 3.2, 128),
        ("MI300X", 304, 2048, 2.1, 8192, 5.2, 192),
        ("TPU v3", 4, 2 * 128**2, 0.94, 1, 8 * 900, 32),
        ("TPU v4", 8, 2 * 128**2, 1.05, 1, 9600, 32),
        ("TPU v5e", 4, 2 * 128**2, 1.5, 1, 8 * 819, 16),
        ("TPU v5p", 8, 2 * 128**2, 1.75, 1, 22120, 95),
    ],
)
def test_rates_are_units_times_clocks(
    name: str, units: int, operations: int, clock: float, bits: int, rate: float, memory: int
) -> None:
    device = gpu(name)
    assert device.flops == pytest.approx(units * operations * clock * 1e9, rel=0.01)
    assert device.bandwidth == pytest.approx(bits * rate / 8 * 1e9, rel=0.01)
    assert device.memory == memory * 2**30


@pytest.mark.parametrize(
    ("name", "bits", "rate", "memory"),
    [
        ("A100 80GB PCIe", 5120, 3.024, 80),
        ("A800", 5120, 3.186, 80),
        ("H800", 5120, 5.23, 80),
        ("H100 NVL", 6016, 5.2, 94),
        ("H20", 6144, 5.2, 96),
        ("H200", 6144, 6.25, 141),
        ("B200", 8192, 7.8, 180),
        ("GB200", 8192, 7.8, 186),
        ("V100 SXM2 16GB", 4096, 1.758, 16),
        ("MI325X", 8192, 5.86, 256),
        ("TPU v6e", 1, 8 * 1638, 32),
        ("A16", 64, 6.4, None),
        ("Snapdragon 8 Gen 2", 64, 8.4, None),
        ("Snapdragon 8 Gen 3", 64, 9.6, None),
        ("M4 Pro", 256, 8.533, 64),
        ("M4 Max", 512, 8.533, 128),
        ("M2 Ultra", 1, 6400, 192),
    ],
)
def test_bandwidth_is_the_bus_times_its_rate(
    name: str, bits: int, rate: float, memory: int | None
) -> None:
    assert gpu(name).bandwidth == pytest.approx(bits * rate / 8 * 1e9, rel=0.01)
    assert gpu(name).memory == (memory and memory * 2**30)


def test_every_device_stands_in_a_table_above() -> None:
    tables = (test_rates_are_units_times_clocks, test_bandwidth_is_the_bus_times_its_rate)
    known = {
        gpu(row[0]).name for table in tables for mark in table.pytestmark for row in mark.args[1]
    }
    assert known == {d.name for d in devices()}


def test_devices_that_share_a_chip_have_its_rate() -> None:
    for name, chip in {
        "A100 80GB PCIe": "A100",
        "A800": "A100",
        "H800": "H100",
        "H200": "H100",
        "V100 SXM2 16GB": "V100",
        "MI325X": "MI300X",
    }.items():
        assert gpu(name).flops == gpu(chip).flops
