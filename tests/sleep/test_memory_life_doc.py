"""docs/memory-life.md says what holds."""

from pathlib import Path

import pytest

from pagemind.runtime import settings
from pagemind.runtime.definition_parts import Sleeping
from pagemind.runtime.sleep.decide import OPS
from pagemind.runtime.sleep.jobs import jobs_of

PAGE = Path(__file__).resolve().parents[2] / "docs" / "memory-life.md"
TEXT = PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "said",
    [
        f"up\nto {settings.EXTRACT_TURNS} turns in one call",
        f"cosine ≥ {settings.NEAR_SUPERSEDES}",
        f"≥ {settings.NEAR_ASKS}, or",
        f"up to {settings.RATE_BATCH} of them in one call",
        f"an importance of {settings.REFLECT_IMPORTANCE} in sum, or is {settings.REFLECT_EVERY}",
        f"said ({settings.REFLECT_LEAST} in sum) is over",
        f"a cosine of {settings.LINK_LIKE} or\nmore",
        f"the newest {settings.LINK_BACK}.",
        f"come to {settings.SEGMENT_JOIN} or more",
        f"The view holds {settings.SEGMENTS} segments",
        f"a heat of {settings.SEGMENT_HEAT:g} or more",
        f"a cosine distance of {settings.EPISODES_CLUSTER}",
        f"of importance {settings.DIGEST_IMPORTANCE}",
        ", ".join(f"`{op}`" for op in OPS[:4]) + f" or `{OPS[4]}`",
    ],
)
def test_its_numbers_are_those_of_the_settings(said: str) -> None:
    """And its words those that a model may answer."""
    assert said in TEXT


def test_each_job_is_told_of() -> None:
    """By its name."""
    names = [job.name for job in jobs_of(Sleeping())]
    derived = ("rate", "reflect", "link", "segments", "compress")
    for name in ("extract", "profiles", "consolidate", "dedupe", *derived):
        assert name in names
        assert f"`{name}`" in TEXT
