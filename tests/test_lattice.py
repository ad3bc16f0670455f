"""Whatever strangers say, and however a model repeats it, nothing of it stands in what is trusted.

The long form is benchmarks/lattice.py --runs N; a failure prints the seed that repeats it.
"""

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as some
from lattice_kit import World, events_of

from pagemind.runtime.testing import temporary_runtime


@settings(
    max_examples=6,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],  # a smaller seed is another world: nothing shrinks
    suppress_health_check=[HealthCheck.too_slow],
)
@given(some.integers(0, 1 << 20))
def test_nothing_untrusted_stands_in_what_is_trusted(seed: int) -> None:
    """Results, observations, documents, messages of agents and imports, then flushes, sleep,
    reflection, consolidation, skills and facts, by a model that copies all that it reads."""
    print("seed", seed)
    with temporary_runtime() as runtime:
        world = World(runtime, seed)
        for event in events_of(seed):
            world.happen(event)
            assert not world.leaks(), event
