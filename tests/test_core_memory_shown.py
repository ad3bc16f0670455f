"""CoreMemory without `live`: what is current, and what the prompt shows until the next flush."""

from pagemind.runtime.core_memory import Block, CoreMemory

HUMAN = Block("human", "Sam", 100)


def test_live_shows_an_edit_at_once() -> None:
    """As in the paper."""
    core = CoreMemory([HUMAN])
    core.put(HUMAN.appended("Likes tea"))
    assert "Likes tea" in core.render() == core.render(refreshed=True)
    assert core.shown_versions() == {"human": 2}


def test_otherwise_an_edit_waits_for_refresh() -> None:
    """The blocks are current, what is rendered is not, and the head says how to read it."""
    core = CoreMemory([HUMAN], live=False)
    before = core.render()
    core.put(HUMAN.appended("Likes tea"))
    assert core.render() == before
    assert core.get("human").value == "Sam\nLikes tea"
    assert "Likes tea" in core.render(refreshed=True)
    assert core.shown_versions() == {"human": 1}
    assert "newer text holds" in before
    core.refresh()
    assert core.render() == core.render(refreshed=True) != before
    assert core.shown_versions() == {"human": 2}


def test_what_a_process_showed_can_be_shown_again() -> None:
    """show() takes versions that are not current."""
    core = CoreMemory([HUMAN.appended("Likes tea")], live=False)
    core.show([HUMAN])
    assert "Likes tea" not in core.render()
    assert core.shown_versions() == {"human": 1}
    core.refresh()
    assert "Likes tea" in core.render()


def test_a_new_block_waits_too() -> None:
    """Nothing of it is in the head before."""
    core = CoreMemory([], live=False)
    assert core.render() == ""
    core.put(HUMAN)
    assert core.render() == ""
    core.refresh()
    assert "Sam" in core.render()
