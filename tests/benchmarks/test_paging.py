"""Paging keeps its promises in a short life: the window, the bound, the task of the paper.

The long forms are `python benchmarks/paging.py …`; docs/paging.md has their figures.
"""

from pathlib import Path
from typing import Any

import pytest
from bench_kit import benchmark

paging = benchmark("paging")
soak = benchmark("paging_soak")
aging = benchmark("paging_aging")
needle = benchmark("paging_needle")
nested = benchmark("paging_nested")
dmr = benchmark("paging_dmr")
ablation = benchmark("paging_ablation")
walk = benchmark("paging_walk")
kit = benchmark("paging_kit")
synthetic = benchmark("synthetic")


@pytest.fixture(scope="module")
def life() -> dict[str, Any]:
    """A soak of a few hundred messages: dozens of pages, directories among them."""
    found: dict[str, Any] = soak.soak(600, 6144)
    return found


def test_no_request_is_ever_above_the_window(life: dict[str, Any]) -> None:
    """Not even with the tokens that are kept for the reply."""
    assert life["max_prompt_and_reply"] <= life["window"]
    assert life["max_prompt_tokens"] <= life["usable"]


def test_every_fact_is_reached_within_the_bound(life: dict[str, Any]) -> None:
    """By its time alone, with page_in from the table in the prompt."""
    assert life["pages"] > 32
    assert life["facts_reachable"] == life["facts_planted"] >= 20
    assert life["max_reads"] <= life["read_bound"]


def test_the_prompt_is_mostly_the_prefix_it_was(life: dict[str, Any]) -> None:
    """Floors a little under what was measured on so small a window."""
    assert life["prefix_mean"] >= 90
    assert life["prefix_median"] >= 95


def test_a_life_costs_less_than_replay_and_no_more_at_its_end(life: dict[str, Any]) -> None:
    """Tokens only: CPU time is too noisy in so short a run."""
    assert life["tokens_vs_replay"] < 0.5
    assert life["tokens_vs_sliding"] < 1.1
    assert life["prompt_tokens_late_vs_early"] <= 1.2
    points = [each["tokens_vs_replay"] for each in life["curve"]]
    assert points == sorted(points, reverse=True)


def test_scripts_find_the_keys_of_a_soak(life: dict[str, Any]) -> None:
    """Those of the contract."""
    keys = (
        "messages window max_prompt_tokens table_tokens pages prefix_mean prefix_median"
        " tokens_vs_replay facts_planted facts_reachable max_reads read_bound"
        " prompt_tokens_late_vs_early cpu_late_vs_early commit machine data_sha256 seed"
    )
    assert set(keys.split()) <= life.keys()


def test_an_old_life_goes_on_beside_a_young_one() -> None:
    """Both by as many exchanges; the ratio itself is noise in so short a run."""
    found = aging.aging(240, 6144, young=120, block=12)
    assert (found["messages"], found["messages_of_the_young"]) == (240, 120)
    assert found["exchanges_compared"] == 60
    ratios = [value for key, value in found.items() if key.endswith("late_vs_early")]
    assert len(ratios) == 3
    assert all(ratio > 0 for ratio in ratios)


def test_the_task_of_the_paper_is_solved_at_every_level() -> None:
    """Where the same window without paging functions and prefetching fails."""
    found = nested.nested(1, 8192)
    right = {way: [row["right"] for row in found["rows"] if row["way"] == way] for way in WAYS}
    assert right["paging"] == [100.0] * 5
    assert 0.0 in right["window"]


WAYS = ("paging", "window")


def test_needles_are_found_by_their_time_and_by_page_find() -> None:
    """Words alone, without an embedder: by time always, in the words of the fact nearly always."""
    conversation = synthetic.synthetic(1, 240).conversations[0]
    found = needle.Needles(conversation, 8192, "none").run(None)
    assert found["by_time"]["reached"] == 100.0
    assert found["by_time"]["max_reads"] <= found["read_bound"]
    assert found["groups"]["exact"]["find"] >= 80
    assert found["by_kind"]["identifier"]["find"] == 100.0
    assert found["groups"]["exact"]["prefetch"] > 0


def test_the_ways_to_an_answer_stand_side_by_side() -> None:
    """Replay has all of the evidence, the window what is new, and paging finds most."""
    corpus = synthetic.synthetic(1, 400).only(["chat-1"])
    rows = {row["way"]: row for row in dmr.Bench(corpus, 6144, "none", 12).retrieval(None)["rows"]}
    assert rows["replay"]["evidence_in_view"] == 100.0
    assert rows["paging"]["evidence_in_view"] > rows["window"]["evidence_in_view"]
    assert rows["paging"]["evidence_in_view"] > rows["summary"]["evidence_in_view"]


def test_each_part_left_out_has_a_row() -> None:
    """Of a talk so short that only the form is judged."""
    found = ablation.ablation(30, 6144, readers=("walks",))
    rows = {row["parts"]: row for row in found["rows"]}
    assert list(rows) == [name for name in ablation.OFF if name != "plain"]
    assert all(0 <= row.get("walks_right", 0) <= 100 for row in rows.values())
    assert all(row["tokens_a_turn"] > 0 for row in rows.values())


def test_a_model_answers_beside_itself_without_a_runtime() -> None:
    """Only the rows asked for; no more questions than there are facts."""
    found = ablation.ablation(60, 6144, "scripted/echo", 99, only=("no table", "plain"))
    assert [row["parts"] for row in found["rows"]] == ["no table", "plain"]
    assert [row["model_asked"] for row in found["rows"]] == [6, 6]


def test_a_model_answers_in_each_way() -> None:
    """What it says is scored, whatever it says."""
    corpus = synthetic.synthetic(1, 400).only(["chat-1"])
    found = dmr.Bench(corpus, 6144, "none", 2).answers(None, "scripted/echo", None)
    assert [row["way"] for row in found["rows"]] == ["paging", "summary", "window", "replay"]
    assert all({"f1", "bleu1", "input_tokens"} <= row.keys() for row in found["rows"])


@pytest.mark.parametrize(("pages", "reads"), [(1, 1), (2, 2), (16, 2), (17, 3), (257, 4)])
def test_the_bound_is_the_height_of_the_tree_and_one(pages: int, reads: int) -> None:
    """⌈log16(pages)⌉ + 1."""
    assert walk.bound(pages) == reads


def test_a_unit_that_changed_ends_the_prefix() -> None:
    """What follows it counts as new, even where it is alike."""
    from pagemind.runtime.message import Message, Text
    from pagemind.runtime.model import ModelRequest
    from pagemind.runtime.testing import ScriptedModel

    watch = kit.Watch(ScriptedModel(["a", "b", "c"]))
    for head in ("one", "one", "two"):
        same = Message("user", (Text("the same words"),))
        watch.complete(ModelRequest((f"system {head}",), (same,)))
    assert [each.prefix == each.tokens for each in watch.sent] == [False, True, False]
    assert watch.sent[2].prefix == 0


def test_a_count_of_nothing_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """As is a file that is no data set: one line, no traceback."""
    with pytest.raises(SystemExit):
        paging.main(["soak", "--messages", "0"])
    assert "above 0" in capsys.readouterr().err
    path = tmp_path / "wrong.json"
    path.write_text("{}", encoding="utf-8")
    assert paging.main(["dmr", "--data", str(path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
