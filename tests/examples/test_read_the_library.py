"""examples/read_the_library.yaml, killed on the way. The whole of it, two hundred documents, is
`python benchmarks/library.py`."""

from pathlib import Path

from library_kit import disturbed, library, read, undisturbed


def test_killed_ten_times_it_reads_what_it_reads_undisturbed(tmp_path: Path) -> None:
    """The same facts, once each, all right; a kill costs at most the request that it cut off."""
    calm = undisturbed(library(tmp_path / "calm", documents=12))
    torn = disturbed(library(tmp_path / "torn", documents=12), kills=10, seed=5)
    assert torn.kills == 10
    assert (calm.exit_code, torn.exit_code) == (0, 0)
    assert calm.facts == torn.facts
    assert calm.right == torn.right == 12 * 5
    assert torn.tokens <= calm.tokens + torn.kills * torn.largest
    assert read(tmp_path / "calm", "report.md") == read(tmp_path / "torn", "report.md")
