"""A table of Markdown as aligned columns without lines; as it was written where it is too wide."""

import re
from collections.abc import Callable, Sequence

from pagemind.runtime.cli.inline import Piece, pieces

_CELL_END = re.compile(r"(?<!\\)\|")
_UNDER = re.compile(r":?-+:?")
_GAP = 2


def table_lines(lines: Sequence[str], width: int, cells: Callable[[str], int]) -> list[list[Piece]]:
    """Each line as styled pieces. `cells` gives the columns of a text."""
    rows = [_cells_of(line) for line in lines]
    under = rows[1] if len(rows) > 1 else []
    if not under or not all(_UNDER.fullmatch(cell) for cell in under):
        return [[Piece(line, "")] for line in lines]
    count = max(map(len, rows))
    right = [cell.endswith(":") and not cell.startswith(":") for cell in under]
    right += [False] * (count - len(right))
    styled = [
        [pieces(cell, final=True, style="1" if number == 0 else "")[0] for cell in row]
        + [[]] * (count - len(row))
        for number, row in enumerate(rows)
        if number != 1
    ]
    widths = [
        max(cells("".join(piece.text for piece in row[column])) for row in styled)
        for column in range(count)
    ]
    if sum(widths) + _GAP * (count - 1) > width:
        return [[Piece(line, "")] for line in lines]
    found = []
    for row in styled:
        line: list[Piece] = []
        for column, cell in enumerate(row):
            pad = " " * (widths[column] - cells("".join(piece.text for piece in cell)))
            gap = [Piece(" " * _GAP, "")] if column else []
            padded = [Piece(pad, ""), *cell] if right[column] else [*cell, Piece(pad, "")]
            line += [*gap, *padded]
        while line and not line[-1].text.strip():
            line.pop()
        found.append(line)
    return found


def _cells_of(line: str) -> list[str]:
    inside = line.strip().removeprefix("|")
    if inside.endswith("|") and not inside.endswith("\\|"):
        inside = inside[:-1]
    return [cell.strip().replace("\\|", "|") for cell in _CELL_END.split(inside)]
