"""Queries nobody should make, and what was said where they are made."""

SAID = (
    "My boat is called Nomad and lies in slip 14.",
    "O'Neil said: 50% of it; SELECT * FROM recall WHERE text LIKE '%boat_%'",
    "日本語のテキストです。京都に行きました。",
    "שלום עולם, הסירה אדומה",
    "🚤🚤 😀",
)

# A query, and the messages it must find. None: whatever it finds is right; the empty set: nothing.
QUERIES: dict[str, tuple[str, set[str] | None]] = {
    "white space": (" \t\n ", None),  # as good as none: the newest
    "100,000 characters": ("boat " * 20_000, {"m1"}),
    "100,000 of one": ("a" * 100_000, set()),
    "only stop words": ("the and of to is", None),
    "only punctuation": ("?!… -- ;;; '\"()[]{}", set()),
    "only emoji": ("🚤😀", set()),
    "CJK": ("京都", {"m5"}),
    "right to left": ("הסירה", {"m7"}),
    "SQL": ("'; DROP TABLE recall; --", None),
    "a pattern": ("%_%", set()),
    "FTS operators": ('+boat -Nomad "slip 14" AND NOT (boat OR *) ~2 ^3 text:boat', None),
    "unbalanced quotes": ("\"boat 'Nomad (", None),
    "a NUL and half an emoji": ("bo\x00at \ud83d Nomad", {"m1"}),
    "a backslash at the end": ("Nomad\\", {"m1"}),
    "control characters": ("\x1b[31mNomad\x1b[0m\x07", {"m1"}),
}
