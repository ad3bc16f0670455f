"""The function of episodes: episode_search."""

from pagemind.runtime.episode import RESULTS, Recalled, Result, cut
from pagemind.runtime.errors import BadArguments, ToolFailed
from pagemind.runtime.settings import EPISODE_SITUATION_CHARS, LESSON_CHARS
from pagemind.runtime.shorten import shorten
from pagemind.runtime.step_trust import untrusted
from pagemind.runtime.template import load
from pagemind.runtime.tokens import TokenCounter
from pagemind.runtime.tool import ToolContext, ToolResult, tool

_KINDS: dict[Result, str] = {"ok": "example", "failed": "warning", "unknown": "unknown"}
_NONE = "nothing like this was tried before"


@tool(effect="none", seconds=None)
def episode_search(
    ctx: ToolContext, situation: str, outcome: str | None = None
) -> str | ToolResult:
    """Find out what you tried in earlier turns like this one, and how it went: examples of what
    worked, and warnings of what failed.

    Args:
        situation: What is to be done now, in a sentence.
        outcome: Only what went so: ok, failed or unknown.
    """
    if ctx.episodes is None:
        raise ToolFailed("this agent keeps no episodes")
    if not situation.strip():
        raise BadArguments("situation is empty; say in a sentence what is to be done")
    wanted = next((each for each in RESULTS if each == (outcome or "").strip().lower()), None)
    if outcome and outcome.strip().lower() not in ("", "any", "all") and wanted is None:
        raise BadArguments(f"outcome is one of {', '.join(RESULTS)}, not {outcome!r}")
    found = ctx.episodes.search(situation.strip(), wanted)
    if not found:
        return _NONE
    count = TokenCounter().count
    shown = load("episodes").fill(episodes="\n".join(map(_line, found)))
    least = min(each.trust for each in found)
    return ToolResult(shorten(shown, ctx.result_tokens, count), trust=least)


def _line(one: Recalled) -> str:
    """An episode. What strangers said in it is shown as data, as all of the result then is."""
    episode = one.episode
    often = f", {one.times} times" if one.times > 1 else ""
    outside = " (with what others said)" if untrusted(one.trust) else ""
    lines = [f"{one.id} {_KINDS[episode.outcome]}{often}{outside}: {episode.situation}"]
    lines.append(f"  tried: {'; '.join(episode.approach) or 'an answer'}")
    if episode.lesson:
        lines.append(f"  {cut(episode.lesson, LESSON_CHARS + EPISODE_SITUATION_CHARS)}")
    return "\n".join(lines)
