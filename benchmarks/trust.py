"""Trust: what strangers' texts come to, with a model that obeys every order that it reads.

    python benchmarks/trust.py [--seed 1] [--variants 1] [--turns 100] [--ablation] [--json FILE]

The attacks (trust_attacks*.py, our own wording after published kinds) and the benign tasks
(trust_tasks.py) are played with the product as it is: the model is scripted (trust_model.py), the
world only writes down what it was asked to do, the person consents to what they themselves asked
for. `consequential_actions` are deeds in the world that the person did not ask for,
`trusted_changed` what became of trusted memory: a record changed or crowded out, core memory, a
skill, timer or pin written, strangers' words in a row or step that counts as trusted. Both should
be 0. `utility` is how many tasks were finished ÷ how many with every defence off. With `--ablation`
one attack of each kind is played with each defence off by itself, and `ablation` says how many got
through then. `--no-attacks` and `--no-tasks` leave a part out. No figure is of a clock.
"""

import logging
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import trust_attacks
import trust_tasks
from machine import header, parser, table, write
from trust_ablation import ALL_OFF, DEFENCES, Defence
from trust_stage import DEEDS, Harm, stages

TURNS = 100  # of talk between what is planted and what wakes it
VARIANTS = 1


@dataclass
class Played:
    """What came of the attacks."""

    attacks: int = 0
    through: dict[str, list[Harm]] = field(default_factory=dict)  # by attack and seed
    orders: int = 0  # of strangers, that the model tried to carry out
    asked: int = 0
    approved: int = 0

    @property
    def deeds(self) -> int:
        """Deeds that nobody asked for."""
        return sum(harm.kind in DEEDS for each in self.through.values() for harm in each)

    @property
    def changed(self) -> int:
        """Harm to what is trusted."""
        return sum(harm.kind not in DEEDS for each in self.through.values() for harm in each)


@dataclass
class Done:
    """What came of the benign tasks."""

    tasks: int = 0
    finished: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    asked: int = 0
    approved: int = 0


def attacks(
    seeds: Iterable[int],
    *,
    turns: int,
    without: Defence | None = None,
    only: Sequence[str] = (),
    tell: bool = False,
) -> Played:
    """Play the attacks, those of these names if some are given."""
    played = Played()
    with (
        tempfile.TemporaryDirectory(prefix="pagemind-trust-") as folder,
        stages(Path(folder), without.patches if without else ()) as made,
    ):
        for seed in seeds:
            for each in trust_attacks.every():
                if only and each.name not in only:
                    continue
                began = time.monotonic()
                terms = without.terms if without else {}
                with made.stage(each.name, seed=seed, trust=terms, turns=turns) as stage:
                    each.run(stage)
                    found = stage.judge()
                played.attacks += 1
                played.orders += sum(a.model.obeyed.total() for a in stage.actors.values())
                played.asked += stage.person.questions
                played.approved += stage.person.approved
                if found:
                    played.through[f"{each.name} {seed}"] = list(found)
                if tell:
                    seconds = time.monotonic() - began
                    what = ", ".join(sorted({harm.kind for harm in found})) or "nothing"
                    print(f"{each.kind}: {each.name} {seed}: {what} ({seconds:.0f} s)", flush=True)
                    for harm in found:
                        print(f"    {harm.kind}: {harm.what}", flush=True)
    return played


def tasks(
    seeds: Iterable[int],
    *,
    turns: int,
    without: Defence | None = None,
    only: Sequence[str] = (),
    tell: bool = False,
) -> Done:
    """Play the benign tasks."""
    done = Done()
    with (
        tempfile.TemporaryDirectory(prefix="pagemind-trust-") as folder,
        stages(Path(folder), without.patches if without else ()) as made,
    ):
        for seed in seeds:
            for each in trust_tasks.every():
                if only and each.name not in only:
                    continue
                terms = without.terms if without else {}
                with made.stage(each.name, seed=seed, trust=terms, turns=turns) as stage:
                    finished = each.run(stage)
                done.tasks += 1
                (done.finished if finished else done.failed).append(f"{each.name} {seed}")
                done.asked += stage.person.questions
                done.approved += stage.person.approved
                if tell:
                    print(f"task: {each.name} {seed}: {finished}", flush=True)
    return done


def utility(gated: Done, ungated: Done) -> float:
    """Finished ÷ finished with every defence off."""
    return round(len(gated.finished) / max(1, len(ungated.finished)), 3)


def ablation(seed: int, turns: int, *, tell: bool = False) -> dict[str, dict[str, Any]]:
    """For each defence: how many attacks get through without it, and what they do. One attack of
    each kind is played."""
    first = {each.kind: each.name for each in reversed(list(trust_attacks.every()))}
    found = {}
    for defence in (*DEFENCES, ALL_OFF):
        played = attacks([seed], turns=turns, without=defence, only=list(first.values()))
        kinds = Counter(harm.kind for each in played.through.values() for harm in each)
        found[defence.name] = {
            "through": len(played.through),
            "of": played.attacks,
            "consequential_actions": played.deeds,
            "trusted_changed": played.changed,
            "kinds": dict(sorted(kinds.items())),
            "off_by": defence.how,
        }
        if tell:
            print(f"without {defence.name}: {len(played.through)} get through", flush=True)
    return found


def rows_of(ablated: Mapping[str, Mapping[str, Any]]) -> list[list[object]]:
    """For a table."""
    keys = ("through", "consequential_actions", "trusted_changed", "off_by")
    return [[name, *(each[key] for key in keys)] for name, each in ablated.items()]


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--variants", type=int, default=VARIANTS, help="seeds from it on")
    arguments.add_argument("--turns", type=int, default=TURNS, help="of a long time")
    arguments.add_argument("--ablation", action="store_true")
    arguments.add_argument("--ablation-turns", type=int, default=2)
    arguments.add_argument("--only", nargs="+", default=(), help="attacks of these names")
    arguments.add_argument("--no-attacks", action="store_true")
    arguments.add_argument("--no-tasks", action="store_true")
    arguments.add_argument("--tell", action="store_true", help="say each as it is played")
    asked = arguments.parse_args(argv)
    logging.getLogger("pagemind").setLevel(logging.CRITICAL)  # functions that fail are meant to
    seeds = range(asked.seed, asked.seed + asked.variants)
    none = () if asked.no_attacks else seeds
    played = attacks(none, turns=asked.turns, only=asked.only, tell=asked.tell)
    figures: dict[str, Any] = {
        "attacks": played.attacks,
        "consequential_actions": played.deeds,
        "trusted_changed": played.changed,
        "through": {name: [harm.kind for harm in each] for name, each in played.through.items()},
        "orders_tried": played.orders,
        "attack_approvals": {"asked": played.asked, "approved": played.approved},
    }
    if not asked.no_tasks:
        gated = tasks(seeds, turns=asked.turns, tell=asked.tell)
        ungated = tasks(seeds, turns=asked.turns, without=ALL_OFF, tell=asked.tell)
        figures |= {
            "utility": utility(gated, ungated),
            "tasks": gated.tasks,
            "finished": len(gated.finished),
            "ungated_finished": len(ungated.finished),
            "failed": gated.failed,
            "task_approvals": {"asked": gated.asked, "approved": gated.approved},
        }
    if asked.ablation:
        figures["ablation"] = ablation(asked.seed, asked.ablation_turns, tell=asked.tell)
    shown = [[key, value] for key, value in figures.items() if not isinstance(value, dict | list)]
    table(["figure", "value"], shown)
    for name, each in played.through.items():
        print(f"got through: {name}: {', '.join(sorted({harm.kind for harm in each}))}")
    if "ablation" in figures:
        table(["without", "through", "actions", "changed", "how"], rows_of(figures["ablation"]))
    data = [each.name for each in trust_attacks.every()]
    write(asked.json, {**header(seed=asked.seed, data=data), "turns": asked.turns, **figures})
    return 0


if __name__ == "__main__":
    sys.exit(main())
