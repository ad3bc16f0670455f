"""What every test shares: Hypothesis tries the same examples in every run, so that CI is as
predictable as a machine at home. HYPOTHESIS_PROFILE=search looks for new ones."""

import os
from collections import Counter

import pytest
from hypothesis import settings

settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.register_profile("search", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with few tests first: those are the long ones, and whoever has the last file of a run
    to himself holds up the end."""
    tests = Counter(item.path for item in items)
    items.sort(key=lambda item: tests[item.path])
