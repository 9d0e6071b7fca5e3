"""The table of devices, and names in the spellings that people use."""
from __future__ import annotations

import pytest

from depthlaw.advisor.hardware import devices, gpu, slowest_with
from depthlaw.advisor.quantities import UsageError


@pytest.mark.parametrize(("typed", "name"), [
    ("H100", "H100 SXM"), ("h100", "H100 SXM"), ("NVIDIA H100 80GB HBM3", "H100 SXM"),
    ("H100-SXM5-80GB", "H100 SXM"), ("nvidia_h100_pcie", "H100 PCIe"), ("h100-nvl", "H100 NVL"),
    ("H200", "H200 SXM"), ("b200", "B200 SXM"), ("gb200", "GB200"),
    ("A100", "A100 80GB SXM"), ("A100-40GB", "A100 40GB"), ("NVIDIA A100-SXM4-40GB", "A100 40GB"),
    ("a100-sxm4-80gb", "A100 80GB SXM"), ("A100 80GB PCIe", "A100 80GB PCIe"),
    ("v100", "V100 SXM2 32GB"), ("Tesla V100-SXM2-16GB", "V100 SXM2 16GB"), ("Tesla T4", "T4"),
    ("GeForce RTX 4090", "RTX 4090"), ("4090", "RTX 4090"), ("rtx3090", "RTX 3090"),
    ("A10G", "A10G"), ("a10", "A10"), ("L40S", "L40S"), ("l40", "L40"), ("L4", "L4"),
    ("AMD Instinct MI300X", "MI300X"), ("mi250x", "MI250X"),
    ("TPU v4", "TPU v4"), ("tpu-v5e", "TPU v5e"), ("Google Cloud TPU v5p", "TPU v5p"),
    ("trillium", "TPU v6e"), ("M4 max", "Apple M4 Max"),
    ("snapdragon-8-gen-3", "Snapdragon 8 Gen 3"),
    ("Qualcomm Snapdragon 8 Gen 2", "Snapdragon 8 Gen 2"), ("A16", "Apple A16"),
])
def test_names_as_people_spell_them(typed: str, name: str) -> None:
    assert gpu(typed).name == name


def test_every_name_of_the_table_finds_its_row() -> None:
    for device in devices():
        assert all(gpu(name) is device for name in (device.name, *device.also))


@pytest.mark.parametrize(("typed", "nearest"), [
    ("H10", "H100 SXM"), ("H1000", "H100 SXM"), ("RTX 4080", "RTX 4090"), ("TPU v7", "TPU v"),
    ("", "H100 SXM"), ("toaster", "H100 SXM"), ("\x1b[2J", "H100 SXM"), ("x" * 10**5, "H100 SXM"),
    ("NVIDIA", "H100 SXM"), ("80GB", "A100 80GB"),
])
def test_an_unknown_name_gets_the_nearest_ones(typed: str, nearest: str) -> None:
    with pytest.raises(UsageError, match=r"^the GPU .* is unknown; nearest: ") as caught:
        gpu(typed)
    assert nearest in str(caught.value)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 250


def test_rows_are_plausible_and_say_where_they_come_from() -> None:
    for d in devices():
        assert d.wording in {"printed", "reported", "recalled", "derived"}
        assert d.source
        assert 5e10 <= d.bandwidth <= 8e12
        if d.flops is None:
            continue
        assert d.memory is not None
        # Of the devices that train nets today, between a T4 and a GB200.
        assert 5e13 <= d.flops <= 3e15
        assert 1e10 <= d.memory <= 3.2e11
        # Dense rates: those with sparsity would be twice as far from the bandwidth.
        assert 30 <= d.flops / d.bandwidth <= 700


def test_the_slowest_device_with_enough_bandwidth() -> None:
    assert slowest_with(1.0) == min(devices(), key=lambda d: d.bandwidth)
    assert slowest_with(2.1e12).name == "TPU v5p"  # type: ignore[union-attr]
    assert slowest_with(1e14) is None


def test_dense_rates_are_not_the_sparse_ones() -> None:
    """What the data sheets print with sparsity: 1,979 and 624 TFLOP/s."""
    assert gpu("H100").flops == pytest.approx(1979e12 / 2, rel=1e-3)
    assert gpu("A100").flops == 624e12 / 2
    assert gpu("H200").flops == gpu("H100").flops
