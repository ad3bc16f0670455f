"""The benchmarks run and write what contract and README promise; their figures are not judged."""

import json
from pathlib import Path
from typing import Any

import warm

ROOT = Path(__file__).resolve().parents[1]


def run(script: str, *arguments: str, out: Path) -> dict[str, Any]:
    words = [f"benchmarks/{script}", *arguments, "--json", str(out)]
    code, _, errors = warm.run(words, timeout=300, cwd=ROOT)
    assert code == 0, errors
    found: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    assert {"commit", "machine", "data_sha256", "seed"} <= found.keys()
    return found


def test_turn_overhead_has_a_row_for_each_history(tmp_path: Path) -> None:
    """Scripts rely on history, both CPU times and via."""
    found = run("turn_overhead.py", "--history", "4", "12", "--turns", "8", out=tmp_path / "f.json")
    assert [row["history"] for row in found["rows"]] == [4, 12]
    for row in found["rows"]:
        assert row["via"] == "scripted"
        assert row["cpu_ms_total"] > 0
        assert row["cpu_ms_foreground"] > 0


def test_tasks_tells_what_they_cost_beside_the_model(tmp_path: Path) -> None:
    """An action, agents at once beside a bare loop and the ideal, going on, memory."""
    few = ("--turns", "2", "--agents", "2", "--delays", "0.05", "--rows", "20", "--steps", "20")
    found = run("tasks.py", *few, out=tmp_path / "f.json")
    assert found["overhead"][0]["task_cpu_ms"] > 0
    (row,) = found["throughput"]
    assert (row["agents"], row["delay_s"]) == (2, 0.05)
    assert min(row["vs_bare"], row["vs_streamed"], row["vs_ideal"]) > 0
    assert found["resume"][0]["seconds"] > 0
    assert found["memory"][0]["growth"] > 0


def test_fsync_cost_gives_ratios(tmp_path: Path) -> None:
    """The wait for the disk is told apart from the work."""
    found = run("fsync_cost.py", "--turns", "20", out=tmp_path / "f.json")
    assert found["wall_full_vs_off"] > 0
    assert found["cpu_full_vs_off"] > 0
    assert found["commits_per_turn"] >= 2  # the message and the end of the turn at least


def test_startup_gives_ratios(tmp_path: Path) -> None:
    """Help and the first prompt are compared with a bare import."""
    found = run("startup.py", "--runs", "1", out=tmp_path / "f.json")
    assert found["help_vs_bare"] > 0
    assert found["chat_prompt_vs_bare"] > 0


def test_faults_tells_what_was_tried_and_lost(tmp_path: Path) -> None:
    """Scripts rely on turns, kinds, lost and stuck."""
    found = run("faults.py", "--turns", "40", "--seed", "3", out=tmp_path / "f.json")
    assert found["turns"] >= 40
    assert (found["lost"], found["stuck"], found["seed"]) == (0, 0, 3)
    assert len(found["kinds"]) > 20
    for kind in found["kinds"].values():
        assert 0 < kind["tried"] == kind["survived"]


def test_embedding_compares_batches_with_the_setting(tmp_path: Path) -> None:
    """Each size has a row for short and for long texts; the setting is 1."""
    found = run("embedding.py", "--texts", "3", out=tmp_path / "f.json")
    assert {row["texts"] for row in found["rows"]} == {"short", "long"}
    usual = [r for r in found["rows"] if r["batch_pieces"] == found["batch_pieces"]]
    assert [row["cpu_vs_setting"] for row in usual] == [1, 1]


def test_peers_gives_a_row_for_a_system(tmp_path: Path) -> None:
    """Ours here, from a workload file as the others read it; theirs are imported nowhere."""
    work = tmp_path / "work.json"
    made = ["benchmarks/peers.py", "--make", str(work), "--lines", "150"]
    assert warm.run(made, timeout=300, cwd=ROOT)[0] == 0
    found = run("peers.py", "--workload", str(work), out=tmp_path / "f.json")
    (row,) = found["rows"]
    assert (row["system"], row["lines"]) == ("pagemind", 150)
    assert 0 < row["recall@10"] <= 100
    assert row["insert_cpu_ms"] > 0
    assert row["search_cpu_ms"] > 0


def test_scale_has_a_row_for_each_size_and_filter(tmp_path: Path) -> None:
    """Scripts rely on rows, agents, filter, CPU, recall, memory and bytes."""
    asked = ["--rows", "200", "1100", "--small", "2", "--questions", "5"]
    found = run("scale.py", *asked, out=tmp_path / "f.json")
    sizes = [(row["rows"], row["agents"], row["filter"]) for row in found["rows"]]
    assert sizes == [
        *((200, 1, name) for name in ("none", "tag", "date")),
        *((1100, 1, name) for name in ("none", "tag", "date")),
        (2000, 2, "none"),
    ]
    for row in found["rows"]:
        assert 0 < row["p50_cpu_ms"] <= row["p99_cpu_ms"]
        assert row["recall@10"] >= 0.95
        assert row["rss_mb"] > 0
        assert row["bytes"] > row["rows"]
    assert found["p50_cpu_ms_last_vs_10k"] > 0
    assert [each["rows"] for each in found["ingest"]] == [200, 1100, 2000]


def test_portability_has_a_row_for_each_history(tmp_path: Path) -> None:
    """Scripts rely on messages, each step with its CPU, memory and file, and the ratio."""
    found = run("portability.py", "--messages", "30", out=tmp_path / "f.json")
    (row,) = found["rows"]
    assert row["messages"] == 30
    for step in ("export", "import", "increment"):
        assert {"seconds", "cpu_seconds", "rss_mb", "file_mb"} == row[step].keys()
        assert row[step]["file_mb"] > 0
    assert set(found["rss_ratio"]) == {"export", "import", "increment"}


def test_repl_measures_echo_first_token_and_commands(tmp_path: Path) -> None:
    """Scripts rely on the echo of three states, the first token and CPU of three commands."""
    asked = ["--messages", "150", "--keys", "7", "--runs", "1"]
    found = run("repl.py", *asked, out=tmp_path / "f.json")
    assert set(found["echo"]) == {"loading", "idle", "streaming"}
    for each in found["echo"].values():
        assert 0 < each["p50_ms"] <= each["p99_ms"]
        assert each["p50_vs_bare"] > 0
    assert set(found["command_cpu_ms"]) == {"undo", "context", "recall"}
    for each in (*found["command_cpu_ms"].values(), found["first_token_cpu_ms"]):
        assert 0 < each["p50"] <= each["p99"]


def test_every_script_is_in_the_readme() -> None:
    """What can be run is listed."""
    text = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    scripts = [
        path.name
        for path in (ROOT / "benchmarks").glob("*.py")
        if '__name__ == "__main__"' in path.read_text(encoding="utf-8")
    ]
    assert scripts
    assert not [name for name in scripts if f"| `{name}` |" not in text]


def test_per_source_tells_what_the_share_costs(tmp_path: Path) -> None:
    """A row without it and one with it: as good for documents, and a flood hides nothing."""
    (tmp_path / "docs").mkdir()
    text = (ROOT / "docs" / "quarantine.md").read_text(encoding="utf-8")
    (tmp_path / "docs" / "one.md").write_text(text, encoding="utf-8")
    few = ("--questions", "1", "--flood", "12", "--docs", str(tmp_path / "docs"))
    without, within = run("per_source.py", *few, out=tmp_path / "f.json")["rows"]
    assert within["hit@10"] >= without["hit@10"]
    assert (without["flood"], within["flood"]) == (0.0, 1.0)
