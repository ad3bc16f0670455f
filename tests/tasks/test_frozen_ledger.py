"""Homes of older versions can run tasks as soon as they are brought up."""

import tarfile
from pathlib import Path

import pytest
from task_kit import Bench

from pagemind.runtime.runtime import Runtime

FROZEN = sorted((Path(__file__).parents[1] / "frozen").glob("home-v*.tar.gz"))


@pytest.mark.parametrize("archive", FROZEN, ids=[path.name for path in FROZEN])
def test_a_frozen_home_runs_a_task(bench: Bench, archive: Path) -> None:
    """The ledger is there, and what the home held is untouched."""
    with tarfile.open(archive) as packed:
        packed.extractall(bench.folder, filter="data")
    Runtime.upgrade(bench.folder / "home")
    with Runtime(bench.folder / "home") as runtime:
        before = {each.name for each in runtime.home.all()}
    report = bench.run('inputs: {lines: in.txt}\ndo: [{say: "{{ input }}", save: out.jsonl}]\n')
    assert report.row.status == "done"
    with Runtime(bench.folder / "home") as runtime:
        assert {each.name for each in runtime.home.all()} == before | {"task"}
