"""StepTrust: how far the step is trusted whose calls run now.

It is the least trust of anything that stood in the window when the model made them (design D14).
What is called by hand is as trusted as whoever calls.
"""

from pagemind.runtime.settings import SUMMARY_TRUST

FULL = 100


class StepTrust:
    """Set by the loop for each reply; given to what writes on the model's behalf. `seen` are the
    short ids of what was untrusted in view, the newest last."""

    def __init__(self) -> None:
        self.now = FULL
        self.seen: tuple[str, ...] = ()

    def __call__(self) -> int:
        return self.now

    @property
    def tainted(self) -> bool:
        """Whether something untrusted was in view."""
        return untrusted(self.now)


def untrusted(trust: int) -> bool:
    """Whether a text of this trust is data that may not lead to anything by itself."""
    return trust < SUMMARY_TRUST
