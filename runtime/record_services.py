"""What functions are given for records: archival memory, episodes, skills, the store of items."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass

from pagemind.runtime.archival_memory import ArchivalMemory
from pagemind.runtime.definition import AgentDefinition
from pagemind.runtime.episodes import Episodes
from pagemind.runtime.item_store import ItemStore, Shelf
from pagemind.runtime.services import Recall
from pagemind.runtime.sight import Sight
from pagemind.runtime.skills import Skills
from pagemind.runtime.state.state import State
from pagemind.runtime.step_trust import StepTrust
from pagemind.runtime.tiers.search import Search, TierSearch


@dataclass(frozen=True, slots=True)
class RecordServices:
    """Of one agent, which writes them as its model's."""

    archival: ArchivalMemory
    episodes: Episodes
    skills: Skills
    items: ItemStore


def record_services(
    state: State,
    definition: AgentDefinition,
    engine: Search,
    *,
    search: Recall,
    like: Recall,
    sight: Sight,
    trust: StepTrust,
    written: Callable[[], None],
) -> RecordServices:
    """`search` is the one that archival functions use, `like` one that asks no model; `trust` is
    that of the step that writes."""
    from pagemind.tools.skill_process import run_skills

    # An insert waits for no server: what is nearly the same only an embedder in the house tells.
    near = engine.near if definition.embedding.startswith("local/") else None
    experience = TierSearch("archival", engine.seeing(sight.own))
    shelf = Shelf(state, engine, written)
    return RecordServices(
        archival=ArchivalMemory(
            state,
            search,
            written=written,
            near=near,
            sight=sight,
            like=like,
            trust=trust,
            stores=definition.trust.archival == "store",
        ),
        episodes=Episodes(
            state, experience, written=written, makes=definition.memory.writes("episodic")
        ),
        skills=Skills(
            state, experience, definition.skills, run=run_skills, trust=trust, written=written
        ),
        items=ItemStore(
            lambda: nullcontext(shelf),
            lambda: nullcontext(shelf),
            sight=sight,
            origin="model",
            trust=trust,
        ),
    )
