"""What every test shares: Hypothesis tries the same examples in every run, so that CI is as
predictable as a machine at home. HYPOTHESIS_PROFILE=search looks for new ones."""

import os

from hypothesis import settings

settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.register_profile("search", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))
