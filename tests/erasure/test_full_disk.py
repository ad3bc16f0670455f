"""A disk that is full half way: nothing half-true is said; with space again it is finished."""

from pathlib import Path

import pytest
from erasure_kit import Life
from small_disk import mounted

from pagemind.runtime.erasure.wanted import wanted
from pagemind.runtime.errors import StorageError


def test_a_full_disk_ends_no_erasure_and_is_gone_on_from(tmp_path: Path) -> None:
    """Where a table cannot be made anew for lack of space, there is no receipt; freed, it ends."""
    with mounted(tmp_path / "disk", 24) as disk:
        life = Life(disk.path / "home", 11)
        life.live(8)

        def fill(step: str) -> None:
            if step == "purge":
                disk.fill(left=1 << 15)

        with life.runtime() as runtime:
            with pytest.raises(StorageError), runtime.erasing("ada", at_step=fill) as erasing:
                erasing.erase(erasing.preview(wanted(subject="Dana")))
            (begun,) = runtime.home.erasures.unfinished()
            assert begun.state == "purge"
            assert not list((disk.path / "home" / "receipts").glob("*"))
            disk.empty()
            with runtime.erasing("ada") as erasing:
                (receipt,) = erasing.resumed
            assert receipt.verified, receipt.found
            assert runtime.home.erasures.unfinished() == []
