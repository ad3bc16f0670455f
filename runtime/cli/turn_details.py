"""A turn in full: what was remembered for it, each call with its arguments and its result."""

import json
from typing import TYPE_CHECKING, Any

from pagemind.runtime.errors import NotFound, UserError

if TYPE_CHECKING:
    from pagemind.runtime.message import Message
    from pagemind.runtime.state.state import State
    from pagemind.runtime.state.turns import TurnRow

_INDENT = "    "


def print_details(state: "State", written: str = "") -> None:
    """Print them for a turn, the last one by default. Raises NotFound, UserError."""
    from rich.text import Text

    from pagemind.runtime.cli.render import console, visible

    row = _turn(state, written)
    out = console()
    out.print(Text.assemble((f"turn {row.turn}", "bold"), _summary(row)), soft_wrap=True)
    for reason in row.reasons:
        out.print(Text(visible(f"{_INDENT}{reason}"), "dim"), soft_wrap=True)
    times = {call["id"]: call["ms"] for call in row.result.get("tool_calls", ())}
    messages = state.journal.of_turn(row.turn)
    results = {m.tool_call_id: m for m in messages if m.role == "tool"}
    calls = 0
    for message in messages:
        for call in message.tool_calls:
            calls += 1
            result = results.get(call.id)
            ok = result is not None and result.ok
            took = f"  {times[call.id]:,.0f} ms" if call.id in times else ""
            out.print(
                Text.assemble(
                    (f"→ {call.name} ", "cyan"),
                    ("✓", "green") if ok else ("✗", "red"),
                    (took, "dim"),
                ),
                soft_wrap=True,
            )
            for name, value in call.parsed().items():
                text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
                out.print(Text.assemble((f"  {name}: ", "dim"), _hanging(text)), soft_wrap=True)
            if result is not None:
                out.print(Text("  ← ", "dim") + Text(_hanging(_told(result))), soft_wrap=True)
    if not calls:
        out.print(Text("it called nothing", "dim"))


def _turn(state: "State", written: str) -> "TurnRow":
    if written:
        if not written.isdecimal():
            raise UserError(f"{written!r} is no turn", hint="a turn is a number: /details 3")
        found = state.turns.get(int(written))
    else:
        found = next(iter(state.turns.newest(1)), None)
    if found is None:
        last = state.turns.next_number() - 1
        raise NotFound(
            f"there is no turn {written}".rstrip(),
            hint=f"the turns are 1 to {last}" if last else "say something first",
        )
    return found


def _summary(row: "TurnRow") -> str:
    from pagemind.runtime.cli.render import money, plural

    result: dict[str, Any] = row.result
    told = [row.stop_reason or "not ended"]
    if result:
        usage, cost = result["usage"], result["cost"]
        told.append(plural(result["steps"], "step"))
        if usage["prompt_tokens"]:
            told.append(f"{usage['prompt_tokens']:,}+{usage['completion_tokens']:,} tokens")
        if cost["known"] and cost["amount"]:
            told.append(money(cost["amount"], True))
        told.append(f"{result['duration_ms'] / 1000:.1f} s")
        if others := result.get("others"):
            asked = plural(others["messages"], "message")
            told.append(f"{asked} answered by other agents ({others['tokens']:,} tokens)")
        if judged := result.get("feedback"):
            told.append(f"marked {judged['verdict']}")
    return ", " + ", ".join(told)


def _told(result: "Message") -> str:
    if result.reference is not None:
        where = ", ".join(f"{key} {value}" for key, value in result.reference.items())
        return f"(read {where})"
    return result.text


def _hanging(text: str) -> str:
    from pagemind.runtime.cli.render import visible

    return visible(text).replace("\n", "\n" + _INDENT)
