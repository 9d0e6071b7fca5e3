"""What a shell offers after the tabulator key: keys, topics, suites, names; from lists that load no
heavy library."""

from __future__ import annotations

from collections.abc import Iterable

# Those of `theory.claim`, which needs SymPy; a test compares.
SUITES = {
    "quick": "small cases, of the claims that have some; half a minute",
    "theory": "quick, and larger mathematical cases; a minute and a half",
    "full": "theory, the largest cases, and trainings; an hour or more",
    "frontier": "exact ranks, as far as --memory and --minutes allow",
    "exercises": "tiny language models; at most 40 minutes",
    "training": "students against floors, small language models; half an hour",
    "long": "trainings of half an hour each and more; a day on one core",
    "gpu": "larger cases of a few claims; needs --device cuda",
}

_Offers = list[tuple[str, str]]


def keys(incomplete: str) -> _Offers:
    """Topics, and the keys of claims as soon as a letter is typed, with their titles.

    Cost: milliseconds; seconds for the first time after a change of the code.
    """
    from ..running.claims_index import claims_index

    known = _of_topics()
    if incomplete:
        known += [(key, row["title"]) for key, row in claims_index().items()]
    return _beginning(known, incomplete)


def topics(incomplete: str) -> _Offers:
    """Topics, with the number of their claims."""
    return _beginning(_of_topics(), incomplete)


def sources(incomplete: str) -> _Offers:
    """What `keys` offers, and the keys of the bibliography."""
    from ..verdicts.citations import entries, reference

    return keys(incomplete) + _beginning(
        [(key, reference(key)) for key in entries()] if incomplete else [], incomplete
    )


def suites(incomplete: str) -> _Offers:
    """The suites."""
    return _beginning(SUITES.items(), incomplete)


def models(incomplete: str) -> _Offers:
    """Published models."""
    from depthlaw.advisor.models import models as listed

    # Spaces would have to be quoted; every spelling is accepted.
    offers = [(model.name.lower().replace(" ", "-"), model.source) for model in listed()]
    return _beginning(offers, incomplete.lower())


def gpus(incomplete: str) -> _Offers:
    """Devices."""
    from depthlaw.advisor.hardware import devices

    offers = [(device.name.replace(" ", "-"), device.source) for device in devices()]
    return _beginning(offers, incomplete)


def tasks(incomplete: str) -> _Offers:
    """Tasks, with what they are told."""
    from depthlaw.advisor.task_depths import TASKS

    return _beginning(TASKS.items(), incomplete)


def atlas_tasks(incomplete: str) -> _Offers:
    """Tasks of the atlas."""
    from depthlaw.advisor.atlas import tasks as listed

    return _beginning([(task.key, task.name) for task in listed().values()], incomplete)


def _of_topics() -> _Offers:
    from ..running.claims_index import claims_index

    every = [key.partition("/")[0] for key in claims_index()]
    return [(topic, f"{every.count(topic)} claims") for topic in dict.fromkeys(every)]


def _beginning(offers: Iterable[tuple[str, str]], incomplete: str) -> _Offers:
    return [(name, help_text) for name, help_text in offers if name.startswith(incomplete)]


_EVERY = (keys, topics, sources, suites, models, gpus, tasks, atlas_tasks)
# By the names that commands.toml gives them.
OFFERS = {offers.__name__: offers for offers in _EVERY}
