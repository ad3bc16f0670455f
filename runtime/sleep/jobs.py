"""The jobs of the worker, in the order in which they run: what is written first is compared,
linked and reflected on in the same sleep."""

from pagemind.runtime.definition_parts import Sleeping
from pagemind.runtime.sleep.compress import Compress
from pagemind.runtime.sleep.consolidate import Consolidate
from pagemind.runtime.sleep.dedupe import Dedupe
from pagemind.runtime.sleep.episodes import EpisodesJob
from pagemind.runtime.sleep.expire import Expire
from pagemind.runtime.sleep.extract import Extract
from pagemind.runtime.sleep.fallen import Fallen
from pagemind.runtime.sleep.job import Job
from pagemind.runtime.sleep.lift import Lift
from pagemind.runtime.sleep.link import Link
from pagemind.runtime.sleep.profiles import Profiles
from pagemind.runtime.sleep.promote import Promote
from pagemind.runtime.sleep.prompts import PromptsJob
from pagemind.runtime.sleep.rate import Rate
from pagemind.runtime.sleep.reflect import Reflect
from pagemind.runtime.sleep.segments import Segmenting
from pagemind.runtime.sleep.settle import Settle


def jobs_of(spec: Sleeping) -> list[Job]:
    """Those that a definition asks for."""
    jobs: list[Job] = [
        Extract(),
        Segmenting(),
        Promote(),
        Profiles(),
        Consolidate(),
        Dedupe(),
        Settle(),
        Lift(),
        EpisodesJob(),
        Rate(),
        Link(),
        Fallen(),
        Reflect(),
        Compress(),
        Expire(),
        PromptsJob(),
    ]
    return jobs
