"""expanded(): a path as a person writes it, with `~` for a home folder.

Every path that was written somewhere goes through here. A `~name` that nobody has stays as it is,
as a shell leaves it: then there is no such file, which whoever opens it tells.
"""

from pathlib import Path


def expanded(written: str | Path) -> Path:
    """With the home folder in place of `~`."""
    path = Path(written)
    try:
        return path.expanduser()
    except RuntimeError:  # nobody is called so, or there is no home
        return path
