"""The function of episodes: episode_search."""

from xml.sax.saxutils import quoteattr

from pagemind.runtime.episode import RESULTS, Recalled, Result, cut
from pagemind.runtime.errors import BadArguments, ToolFailed
from pagemind.runtime.settings import EPISODE_SITUATION_CHARS, LESSON_CHARS, SUMMARY_TRUST
from pagemind.runtime.shorten import shorten
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
    """An episode; what strangers said in it stands in a fence."""
    episode = one.episode
    often = f", {one.times} times" if one.times > 1 else ""
    lines = [f"{one.id} {_KINDS[episode.outcome]}{often}: {_plain(episode.situation)}"]
    lines.append(f"  tried: {_plain('; '.join(episode.approach)) or 'an answer'}")
    if episode.lesson:
        lines.append(f"  {_plain(cut(episode.lesson, LESSON_CHARS + EPISODE_SITUATION_CHARS))}")
    if one.trust >= SUMMARY_TRUST:
        return "\n".join(lines)
    return "\n".join([f"<data origin={quoteattr(f't{episode.turn}')}>", *lines, "</data>"])


def _plain(text: str) -> str:
    """A text must not be able to close a fence, or to open one."""
    return text.replace("</data", "<\\/data").replace("<data", "<\\data")
