"""Trainings that are declared and not recorded yet: train them in this order, or read what is done.

    .venv/bin/python .ci/train_declared.py train RESULTS [PART ...]
    .venv/bin/python .ci/train_declared.py read RESULTS [PART ...]
    .venv/bin/python .ci/train_declared.py keep RESULTS

Seeds, schedules, rates and what each outcome means were written before any of these nets was
trained; what changes later is said at `CHANGED`. `train` goes on from what RESULTS or `recordings/`
hold, partial states among them; `keep` copies what RESULTS hold to `recordings/`, states of less
than 12 MB, so that another checkout goes on from there. No claim rests on them until all nets of a
part are in.

Language models: those of `depth_width/depth_gains_by_updates`, with its schedule. Rates are chosen
at all updates, by two seeds that no reported net has, on all windows of the validation text but
the 64 that losses are reported on. Eight seeds are reported, 0 to 7, at the best rate; where that
is the one of the records, their losses are the recorded ones.

Nets on cycles: those of `trained_depth/wall_beyond`, with its rates and schedule.
"""

from __future__ import annotations

import json
import math
import shutil
import sys
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from torch.nn import functional

from depthlaw.empirics.depth_width import by_updates, language_models
from depthlaw.empirics.depth_width.fixed_budgets import weights_in_all, width_of
from depthlaw.empirics.depth_width.language_models import TUNING_SEEDS, WINDOWS
from depthlaw.empirics.exercises.corpus import STANDARD
from depthlaw.empirics.exercises.language_model import LanguageModelRecipe
from depthlaw.empirics.trained_depth import wall_nets
from depthlaw.empirics.trained_depth.experiment import NETS
from depthlaw.empirics.training import checkpoints, trainer
from depthlaw.empirics.training.depth_search import LEVEL
from depthlaw.empirics.training.permission import NotTrainedError, permission
from depthlaw.empirics.training.recordings import name_of
from depthlaw.theory.claims.definition import Case
from depthlaw.theory.claims.values import FALSE_ALARM_BUDGET, Proportion, Sample

CHANGED = "nothing"

RECORDINGS = Path(__file__).parents[1] / "recordings"
# Of a state that is stored under version control while its training is unfinished.
LARGEST = 12_000_000

# --- language models ------------------------------------------------------------------------------

LONG, EARLIER = 18_000, 4_000
# Around the rate of the records, or below it: the trials at a quarter of the updates may have
# chosen too large a rate.
RATES = {
    12: (2.0**-8, 2.0**-7, 2.0**-6),
    1: (2.0**-9, 2.0**-8, 2.0**-7),
    2: (2.0**-9, 2.0**-8, 2.0**-7),
}
# Nets of 276k to 278k weights in all, embedding, positions and read-out included: the size of the
# three-layer net of the records. Widths and rates by layers.
WHOLE = {1: 58, 2: 52, 3: 48, 6: 40}
WHOLE_RATES = dict.fromkeys(WHOLE, RATES[12]) | {1: RATES[1]}
SEEDS = tuple(range(by_updates.SEEDS))


def language_model(
    layers: int, width: int, steps: int, rate: float, seeds: Sequence[int]
) -> LanguageModelRecipe:
    """Nets of one shape and one rate."""
    text = {"heads": 2, "batch": 8, "length": 64, "vocabulary": 2000, "attention": "softmax"}
    case = Case(parameters=12 * layers * width**2, steps=steps, **text)
    return language_models.made(case, layers, [rate] * len(seeds), seeds)


def window_losses(model: LanguageModelRecipe, cache: Path) -> torch.Tensor:
    """The loss of each replica on every window of the validation text, nats per token, (replicas,
    windows). A training that was stopped goes on from its last checkpoint."""
    both = language_models._texts(
        Case(corpus=STANDARD, vocabulary=model.shape.vocabulary, length=model.shape.length),
        str(cache),
    )
    digests = both.training.digest, both.validation.digest
    name = name_of(model.shape, model.settings, *digests, "every window", device="cpu")
    place = cache / "trainings" / name
    with language_models.alone(place):
        stored = checkpoints.read(place, name)
        if stored is not None:
            return stored[1]["losses"]
        net = trainer.train(
            model.shape,
            both.training,
            model.settings,
            folder=place / "training",
            checkpoint_every=max(1, model.settings.steps // 40),
            progress=_logged(model),
        ).net.eval()
        asked, parts = both.validation.windows(10**9), []
        with torch.no_grad():
            for inputs, targets in zip(
                asked.inputs.split(16, 1), asked.targets.split(16, 1), strict=True
            ):
                logits = net(inputs).float().movedim(-1, 1)
                of = targets.expand(net.replicas, -1, -1)
                parts.append(functional.cross_entropy(logits, of, reduction="none").mean(-1))
        losses = torch.cat(parts, 1)
        checkpoints.write(place, name, model.settings.steps, {"losses": losses}, {})
        shutil.rmtree(place / "training", ignore_errors=True)
    return losses


def reported(windows: int) -> torch.Tensor:
    """Which windows are those that losses are reported on, (windows,)."""
    ours = torch.zeros(windows, dtype=torch.bool)
    ours[torch.arange(WINDOWS) * windows // WINDOWS] = True
    return ours


def chosen(layers: int, width: int, steps: int, rates: Sequence[float], cache: Path) -> float:
    """The rate of the least mean loss on the windows that are not reported on."""
    means = {}
    for rate in rates:
        losses = window_losses(language_model(layers, width, steps, rate, TUNING_SEEDS), cache)
        mean = float(losses[:, ~reported(losses.shape[1])].double().mean())
        means[rate] = mean if math.isfinite(mean) else math.inf
        each = ", ".join(f"{loss:.4f}" for loss in losses.mean(1).tolist())
        _say(f"  {layers} layers, 2^{math.log2(rate):g}: {mean:.4f} (all windows: {each})")
    return min(means, key=lambda rate: means[rate])


def losses_at(layers: int, width: int, steps: int, rate: float, cache: Path) -> torch.Tensor:
    """Of the reported seeds on the reported windows, trained two by two, so that what is unfinished
    stays small."""
    found = []
    for first in SEEDS[::2]:
        losses = window_losses(language_model(layers, width, steps, rate, SEEDS[first:][:2]), cache)
        found.append(losses[:, reported(losses.shape[1])].double().mean(1))
    return torch.cat(found)


def recorded(layers: int, steps: int, cache: Path) -> tuple[float, torch.Tensor]:
    """Rate and losses of the records."""
    found = by_updates._final(by_updates._net(steps), layers, steps, "cpu", str(cache))
    return found.rate, torch.tensor(found.losses, dtype=torch.float64)


def at_its_best(layers: int, cache: Path) -> torch.Tensor:
    """Losses after `LONG` updates at the rate that is chosen at all of them."""
    width, (known, losses) = width_of(by_updates.SIZE, layers, 2), recorded(layers, LONG, cache)
    rate = chosen(layers, width, LONG, RATES[layers], cache)
    _say(f"{layers} layers: 2^{math.log2(rate):g}; the records: 2^{math.log2(known):g}")
    return losses if rate == known else losses_at(layers, width, LONG, rate, cache)


def _extra(deep: int, at_end: dict[int, torch.Tensor], cache: Path) -> None:
    """How much more depth gains after `LONG` updates than after `EARLIER`, by seeds."""
    gains = torch.log(at_end[1] / at_end[deep])
    before = torch.log(recorded(1, EARLIER, cache)[1] / recorded(deep, EARLIER, cache)[1])
    _interval(f"gain of {deep} layers over one, {LONG:,} less {EARLIER:,} updates", gains - before)


def _twelve(cache: Path) -> None:
    _extra(12, {1: recorded(1, LONG, cache)[1], 12: at_its_best(12, cache)}, cache)


def _one_and_two(cache: Path) -> None:
    at_end = {layers: at_its_best(layers, cache) for layers in (1, 2, 12)}
    for deep in (2, 12):
        _extra(deep, at_end, cache)


def _equal_whole_size(cache: Path) -> None:
    losses = {}
    for layers, width in WHOLE.items():
        rate = chosen(layers, width, EARLIER, WHOLE_RATES[layers], cache)
        _say(f"{layers} layers, {weights_in_all(layers, width, 2000, 64):,}: 2^{math.log2(rate):g}")
        losses[layers] = losses_at(layers, width, EARLIER, rate, cache)
    for shallow, deep in ((1, 2), (2, 3), (3, 6)):
        gain = torch.log(losses[shallow] / losses[deep])
        _interval(f"gain of {deep} layers over {shallow}, equal size in all", gain)


# --- nets on cycles -------------------------------------------------------------------------------

AROUND, CYCLE_SEEDS, TRIAL_SEED = 32, (10, 11, 12), 0
UPDATES, FEWER = 240_000, 60_000
# Cycles that the nets have not seen, and the distances asked: the row of a source, against the
# farthest distance of training.
LONGER: dict[str, Any] = {
    "GRAPHS": ((64,), (44, 20), (36, 28)),
    "DISTANCES": tuple(range(1, 16)),
    "FAR": 16,
}
THREE_SEEDS = (10, 11, 12, 13)


@contextmanager
def asking(**constants: Any) -> Iterator[None]:
    """Nets are asked about other graphs and distances."""
    with patch.multiple(wall_nets, **constants):
        yield


def _on_cycles(net: str, layers: int, around: int, updates: int) -> Case:
    return Case(task="long cycles", cycles=2, around=around, net=net, depth=layers, updates=updates)


def shares(case: Case, seed: int, cache: Path) -> dict[int, Proportion]:
    """Right answers in a row, by distance, all unseen graphs together."""
    found: dict[int, tuple[int, int]] = {}
    for question, by_distance in wall_nets.answers(case, seed, "cpu", str(cache)).items():
        if question.startswith("row") and not question.endswith(f"{case.around}+{case.around}"):
            for at, count in by_distance.items():
                right, asked = found.get(at, (0, 0))
                found[at] = right + count.right, asked + count.asked
    return {at: Proportion(*count) for at, count in sorted(found.items())}


def _printed(case: Case, seed: int, cache: Path) -> dict[int, Proportion]:
    found = shares(case, seed, cache)
    row = " ".join(f"{at}:{share.right / share.trials:.3f}" for at, share in found.items())
    _say(f"  {case.net}, {case.depth} layers, {case.updates:,} updates, seed {seed}: {row}")
    return found


def _surely_above(share: Proportion) -> bool:
    return bool(share.interval(LEVEL)[0] > 0.55)


def _beyond(nets: list[dict[int, Proportion]]) -> int:
    return sum(any(_surely_above(net[at]) for at in net if at > 9) for net in nets)


def _longer_cycles(cache: Path) -> None:
    with asking(**LONGER):
        trials = [_printed(_on_cycles(net, 2, AROUND, FEWER), TRIAL_SEED, cache) for net in NETS]
        enough = all(_surely_above(trial[9]) for trial in trials)
        updates = FEWER if enough else UPDATES
        _say(f"seed {TRIAL_SEED}: {updates:,} updates")
        nets = [
            _printed(_on_cycles(net, 2, AROUND, updates), seed, cache)
            for seed in CYCLE_SEEDS
            for net in NETS
        ]
    beyond = _beyond(nets)
    seen = sum(_surely_above(net[9]) for net in nets)
    _say(f"of {len(nets)} nets {seen} see 9 and {beyond} see beyond")


def _three_layers(cache: Path) -> None:
    nets = [
        _printed(_on_cycles(net, 3, 20, UPDATES), seed, cache)
        for seed in THREE_SEEDS
        for net in NETS
    ]
    _say(f"of {len(nets)} nets {_beyond(nets)} see beyond 9")


# --- what is declared -----------------------------------------------------------------------------


# By the name of a part in the table of what is declared: train what is missing, and print what was
# found.
TRAIN_AND_READ = {
    "twelve": _twelve,
    "longer_cycles": _longer_cycles,
    "one_and_two": _one_and_two,
    "equal_whole_size": _equal_whole_size,
    "three_layers": _three_layers,
}
PARTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def possible(cache: Path) -> set[str]:
    """The names of all trainings that a part may ask for."""
    both = language_models._texts(Case(corpus=STANDARD, vocabulary=2000, length=64), str(cache))
    digests = both.training.digest, both.validation.digest
    shapes = [
        (layers, width_of(by_updates.SIZE, layers, 2), LONG, rates)
        for layers, rates in RATES.items()
    ] + [(layers, width, EARLIER, WHOLE_RATES[layers]) for layers, width in WHOLE.items()]
    seeds = [TUNING_SEEDS, *(SEEDS[first:][:2] for first in SEEDS[::2])]
    names = {
        name_of(model.shape, model.settings, *digests, "every window", device="cpu")
        for layers, width, steps, rates in shapes
        for rate in rates
        for pair in seeds
        for model in [language_model(layers, width, steps, rate, pair)]
    }
    on_cycles = [
        (_on_cycles(net, 2, AROUND, updates), seed)
        for net in NETS
        for updates in (FEWER, UPDATES)
        for seed in (TRIAL_SEED, *CYCLE_SEEDS)
    ] + [(_on_cycles(net, 3, 20, UPDATES), seed) for net in NETS for seed in THREE_SEEDS]
    return names | {
        wall_nets.named(*wall_nets.training(case, seed), "cpu") for case, seed in on_cycles
    }


def keep(cache: Path, recordings: Path) -> list[str]:
    """Copy what is trained, or begun, to the recordings; returns the names. A state that is further
    there stays."""
    copied = []
    for name in sorted(possible(cache)):
        place, home = cache / "trainings" / name, recordings / name
        begun = place / "training"
        if _step(home) >= 0:
            continue
        if _step(place) >= 0:
            shutil.rmtree(home, ignore_errors=True)
            _copy(place, home)
        elif _step(begun) > _step(home / "training"):
            if _size(begun) > LARGEST:
                _say(f"{name} is unfinished and too large: {_size(begun):,} bytes")
                continue
            shutil.rmtree(home, ignore_errors=True)
            _copy(begun, home / "training")
        else:
            continue
        copied.append(name)
    return copied


def _step(folder: Path) -> int:
    """Updates done of what a folder holds; -1 where it holds nothing."""
    file = folder / "checkpoint.json"
    return int(json.loads(file.read_bytes())["step"]) if file.exists() else -1


def fetch(recordings: Path, cache: Path) -> None:
    """Where nothing is trained here, go on from the recordings, unfinished states among them."""
    for home in recordings.iterdir():
        place = cache / "trainings" / home.name
        if not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if home.is_dir() else shutil.copy)(home, place)


def _copy(place: Path, home: Path) -> None:
    home.mkdir(parents=True)
    # The state first: `checkpoint.json` names it.
    for file in [*sorted(place.glob("state-*.safetensors")), place / "checkpoint.json"]:
        shutil.copy(file, home)


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.glob("*") if file.is_file())


def _interval(what: str, values: torch.Tensor) -> None:
    sample = Sample(tuple(values.tolist()))
    low, high = sample.interval(float(FALSE_ALARM_BUDGET))
    each = " ".join(f"{value:+.4f}" for value in sample.values)
    _say(f"{what}: {sample.mean:+.4f}, {low:+.4f} to {high:+.4f}; by seeds {each}")


def _logged(model: LanguageModelRecipe) -> Callable[[trainer.Progress], None]:
    last = 0.0

    def log(progress: trainer.Progress) -> None:
        nonlocal last
        if time.monotonic() - last > 60:
            last = time.monotonic()
            _say(
                f"  {model.shape.depth} layers, rate {model.settings.learning_rates[0]:.3g}, seeds "
                f"{model.settings.seeds}: {progress.step:,} of {progress.steps:,}, "
                f"{progress.steps_per_second:.2f} updates/s"
            )

    return log


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(command: str, results: Path, names: Sequence[str]) -> int:
    """Returns the exit code: 1 where a part cannot be read yet."""
    torch.set_num_threads(1)
    cache, missing = results / "cache", 0
    if command == "keep":
        for name in keep(cache, RECORDINGS):
            _say(name)
        return 0
    fetch(RECORDINGS, cache)
    if command == "read":
        # What another process trains is read as it stands.
        for module in (wall_nets, language_models):
            module.alone = nullcontext  # type: ignore[attr-defined]
    with permission(0) if command == "read" else nullcontext():
        for name in names or PARTS:
            part = PARTS[name]
            _say(f"{name}, about {part['hours']:g} hours of one core. {part['outcomes']}")
            try:
                TRAIN_AND_READ[name](cache)
            except NotTrainedError:
                missing += 1
                _say("  not trained yet")
    return int(bool(missing))


if __name__ == "__main__":
    given = sys.argv[1:]
    unknown = set(given[2:]) - set(PARTS)
    if len(given) < 2 or given[0] not in ("train", "read", "keep") or unknown:
        sys.exit(f"train, read or keep; RESULTS; parts: {', '.join(PARTS)}")
    sys.exit(main(given[0], Path(given[1]), given[2:]))
