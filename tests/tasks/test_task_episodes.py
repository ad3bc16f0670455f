"""What a task's check says of an answer, its episode knows."""

from pathlib import Path

from kernel_kit import runtime_at
from task_kit import Bench

from pagemind.runtime.episode import episode_from
from pagemind.runtime.episodes import catch_up
from pagemind.runtime.testing import ScriptedModel


def test_expect_says_how_an_episode_went(tmp_path: Path) -> None:
    """The first answer was refused, the second held; both are there, with the reason."""
    bench = Bench(tmp_path, model=ScriptedModel(["no idea", "the answer is 42"]))
    bench.run(
        "do:\n- say: What is it?\n  expect: {contains: '42'}\n  on_error: retry\n",
        keep_agents=True,
    )
    with runtime_at(tmp_path / "home") as runtime:
        (info,) = runtime.agents()
        agent = runtime.agent(info.name, model=ScriptedModel())
        assert catch_up(agent.state) == 2
        found = agent.state.passages.newest(9, kind="episode")
        read = [episode_from(each.metadata) for each in reversed(found)]
        assert [(each.outcome, each.because) for each in read if each] == [
            ("failed", "expect"),
            ("ok", "expect"),
        ]
        assert read[0] is not None
        assert "42" in read[0].lesson
