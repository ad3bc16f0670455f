"""A copy of a shared block is of a version that there is."""

from pathlib import Path

from kernel_kit import runtime_at, small

from pagemind.runtime.shared_laws import check_copies
from pagemind.runtime.testing import ScriptedModel


def test_a_copy_ahead_of_its_block_is_found(tmp_path: Path) -> None:
    """As where a home.db was put back without its agents; what differs mends itself."""
    with runtime_at(tmp_path) as runtime:
        block = runtime.shared_blocks.make(
            "plan", "Map.", limit=100, description="", author="user", origin="user"
        )
        agent = runtime.agent("ada", small(), model=ScriptedModel([]))
        state = agent.state
        state.blocks.note_shared("human", block.id, 1)
        (found,) = check_copies(state, runtime.shared_blocks)
        assert (found.status, found.repair) == ("note", "open")
        state.blocks.note_shared("human", block.id, 2)
        (found,) = check_copies(state, runtime.shared_blocks)
        assert (found.status, "human (plan@2 of 1)" in found.detail) == ("wrong", True)
        state.blocks.note_shared("human", "gone", 9)
        assert not list(check_copies(state, runtime.shared_blocks))
