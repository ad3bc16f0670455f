"""`pagemind eval`: people measure the recall of their own agents."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pagemind.runtime.cli.options import AgentName, AsJson, HomeFolder
from pagemind.runtime.settings import EVAL_MAX_K

if TYPE_CHECKING:
    from pagemind.runtime.evaluation import CaseResult, Evaluation

_BROKEN, _BELOW = 1, 4
_ORDER = {"error": 0, "miss": 1, "hit": 2}


def evaluate(
    agent: AgentName,
    cases: Annotated[
        Path,
        typer.Argument(
            metavar="CASES.yaml",
            help="Questions, and what should be found (docs/eval.md).",
            show_default=False,
        ),
    ],
    floor: Annotated[
        float | None,
        typer.Option(
            "--floor", metavar="RATE", min=0, max=1, help="Exit with 4 below this hit rate."
        ),
    ] = None,
    k: Annotated[
        int | None,
        typer.Option("--k", metavar="N", min=1, max=EVAL_MAX_K, help="How many hits count."),
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option("--max-tokens", metavar="N", min=1, help="Or how many tokens of hits."),
    ] = None,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> int:
    """Ask the agent's search questions whose answer you know, and count what it finds.

    No model is asked and nothing is written; works while another process runs the agent.
    """
    from pagemind.runtime import evaluation
    from pagemind.runtime.cli.failure import say, say_error
    from pagemind.runtime.cli.render import answer
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.eval_cases import load_cases

    if k is not None and max_tokens is not None:
        raise typer.BadParameter("not together with --k", param_hint="--max-tokens")
    wanted = load_cases(cases)
    if k is not None or max_tokens is not None:
        wanted = wanted.bounded(k, max_tokens)
    if floor is not None:
        wanted = wanted.model_copy(update={"floor": floor})
    with opened(home) as runtime, runtime.reader(agent) as reader:
        found = evaluation.evaluate(
            reader, wanted, now=runtime.clock.now(), count=runtime.counter.count
        )
    if as_json:
        answer(found.as_json())
    else:
        for warning in found.warnings:
            say(warning)
        _print(found)
    broken = [case.error for case in found.cases if case.error]
    if broken:
        say_error("\n       ".join(broken), "name what `pagemind memory search` shows")
        return _BROKEN
    return 0 if found.passed else _BELOW


def _print(found: "Evaluation") -> None:
    """Misses first: they are what a person looks for."""
    from pagemind.runtime.cli.render import one_line, plural, table

    rows = [
        [
            str(case.line),
            case.status,
            "–" if case.rank is None else str(case.rank),
            f"{case.tokens:,}",
            _said(case),
            one_line(case.question),
        ]
        for case in sorted(found.cases, key=lambda case: (_ORDER[case.status], case.line))
    ]
    headers = ["line", "result", "rank", "tokens", "not found", "question"]
    table(headers, rows, right="line rank tokens", spare="tokens")
    looked = f"the first {found.k}" if found.k else f"{found.max_tokens:,} tokens"
    judged = len(found.judged)
    print()
    print(
        f"hit rate {_percent(found.hit_rate)} ({found.count('hit')} of {plural(judged, 'case')}), "
        f"within {looked}"
    )
    print(
        f"all found {_percent(found.all_rate)}, mean reciprocal rank {_ratio(found.mrr)}, "
        f"{found.tokens_mean or 0:,.0f} tokens a question"
    )
    if found.floor is not None:
        verdict = "reached" if found.passed else "not reached"
        print(f"floor {_percent(found.floor)}: {verdict}")


def _said(case: "CaseResult") -> str:
    """What was wanted and is not there, short enough for a column."""
    from pagemind.runtime.cli.render import one_line

    if case.status == "error":
        return "unknown id"
    if case.absent:
        return "" if case.status == "hit" else "should be absent"
    missing = one_line(", ".join(case.missing))
    return missing if len(missing) <= 20 else f"{missing[:19]}…"


def _percent(rate: float | None) -> str:
    return "–" if rate is None else f"{100 * rate:.0f} %"


def _ratio(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
