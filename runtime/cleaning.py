"""Cleaning: what a text from outside hides from people or pretends to a model, made plain. Pure.

clean() strips what nobody can see or shows its name, writes letters in disguise as letters, and
breaks what looks like a chat template, a role or a fence of ours with one backslash: `<|im_end|>`
becomes `<\\|im_end|>`, which anybody can read and no template takes for its own. Ordinary text of
any script stays as it was: the joiners of emoji, Persian and the Indian scripts, the punctuation
of Chinese, fractions and powers. Cleaning twice changes nothing more. clean_line() does the
same to what is to stand on one line, clean_name() to a name, which is no longer than a name.
"""

import re
import unicodedata

from pagemind.runtime.settings import NAME_CHARS

# --- what cannot be seen --------------------------------------------------------------------------

_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
# Plain text of the usual scripts has none of these: one search tells.
_SUSPECT = re.compile(
    "[\x00-\x08\x0e-\x1b\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890-\u0891\u08e2"
    "\u115f-\u1160\u17b4-\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    "\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001345f"
    "\U0001bca0-\U0001bcaf\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
# They look like nothing and mean nothing where they stand alone; what they hide is left out.
_NOTHING = frozenset(
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180e\u180f\u200b\u200c\u200d\u200e"
    "\u200f\u2060\u2061\u2062\u2063\u2064\u2800\u3164\ufeff\uffa0"
)
_SEEN = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd")
_ENGLAND, _SCOTLAND, _WALES = (
    "".join(chr(0xE0000 + ord(letter)) for letter in code) + "\U000e007f"
    for code in ("gbeng", "gbsct", "gbwls")
)
_FLAGS = (_ENGLAND, _SCOTLAND, _WALES)  # the only tags that are drawn
_VIRAMA = 9  # what takes a letter its vowel: a joiner after it says how it looks
_BLACK_FLAG = "\U0001f3f4"
_TEXT_OR_PICTURE = "\ufe0e\ufe0f"
_KEYCAP = "\u20e3"
_DRAWN = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff\u203c\u2049\u2194\u3030\u303d"


def _hidden(text: str) -> str:
    """Without what cannot be seen; of what is more than an accident the name stays."""
    if not _SUSPECT.search(text):
        return text
    made: list[str] = []
    at = 0
    for match in _SUSPECT.finditer(text):
        made.append(text[at : match.start()])
        at = match.end()
        before, after = text[match.start() - 1 : match.start()], text[at : at + 1]
        made.append(_instead(match[0], before, after))
    made.append(text[at:])
    return "".join(made)


def _instead(run: str, before: str, after: str) -> str:
    """What stands for a run of suspects."""
    if before == _BLACK_FLAG and run in _FLAGS:
        return run
    picture = ""
    if run[0] in _TEXT_OR_PICTURE and (_drawn(before) or (after == _KEYCAP and len(run) == 1)):
        picture, run = run[0], run[1:]
    if run in ("\u200c", "\u200d") and (
        (_joins(before) and (_joins(after) or unicodedata.combining(before) == _VIRAMA))
        or (run == "\u200d" and _drawn(before) and _drawn(after))
    ):
        return picture + run
    shown: list[str] = [picture]
    kind, first, times = "", "", 0
    for character in [*run, ""]:
        name = _name(character) if character else ""
        if name == kind:
            times += 1
            continue
        if kind and kind != "seen":
            often = f" ×{times}" if times > 1 else ""
            shown.append(f"[{kind} U+{ord(first):04X}{often}]")
        if name == "seen":
            shown.append(character)
            name = ""
        kind, first, times = name, character, 1
    return "".join(shown)


def _name(character: str) -> str:
    """What kind of hidden character it is; "" for one that is left out without a word."""
    code = ord(character)
    if character in _SEEN or character == "\U000110cd":
        return "seen"
    if character in _NOTHING or 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF:
        return ""
    if 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069:
        return "bidi"
    if 0xE0000 <= code <= 0xE007F:
        return "tag"
    return "control" if unicodedata.category(character) == "Cc" else "hidden"


def _drawn(character: str) -> bool:
    """Whether it may be part of a picture of several: a symbol, or the tone of a skin."""
    return bool(character) and (unicodedata.category(character) == "So" or character in _DRAWN)


def _joins(character: str) -> bool:
    """Whether it is of a script in which joiners change how letters look."""
    code = ord(character) if character else 0
    joining = 0x0600 <= code <= 0x0DFF or 0x1000 <= code <= 0x109F or 0x1780 <= code <= 0x18AF
    return joining and unicodedata.category(character)[0] in "LM"


# --- letters in disguise --------------------------------------------------------------------------

# Mathematical, wide, circled and squared letters, and joined ones: NFKC writes them plainly. Of
# other signs it would take the meaning (x², ½, ①) or the script's own punctuation (，：！).
_DISGUISED = re.compile(
    "[\U0001d400-\U0001d7ff\uff10-\uff19\uff1c\uff1e\uff21-\uff3b\uff3c-\uff3d\uff3f\uff41-\uff5d"
    "\ufe64\ufe65\u24b6-\u24c1\u24c3-\u24e9\U0001f110-\U0001f12e\U0001f130-\U0001f149"
    "\u2102\u210a-\u2113\u2115\u2119-\u211d\u2124\u212a\u212c-\u212d\u212f-\u2131\u2133-\u2134"
    "\ufb00-\ufb06]+"
)


def _plain(text: str) -> str:
    return _DISGUISED.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)


# --- what pretends to be more than text -----------------------------------------------------------

# Letters of other alphabets and brackets that look like the ones of a template.
_LOOK_ALIKE = {
    **dict(zip("аеорсухѕіјԁһԍүᴜνοαρτ", "aeopcyxsijdhgyuvoapt", strict=True)),
    **dict(zip("АЕОРСУХЅІЈТМНΑΕΗΙΜΟΡΤΥΧ", "AEOPCYXSIJTMHAEHIMOPTYX", strict=True)),
    **dict(zip("‹〈⟨❮˂ᐸ›〉⟩❯˃ᐳ", "<<<<<<>>>>>>", strict=True)),
    **dict(zip("∣│ǀ❘⎮▁／⁄∕：﹕˸∶꞉", "|||||_///:::::", strict=True)),
}


class _Fold(dict[int, int]):
    """One character for one: a match in the folded text stands where it stands in the text."""

    def __missing__(self, code: int) -> int:
        character = chr(code)
        folded = _LOOK_ALIKE.get(character) or unicodedata.normalize("NFKC", character)
        self[code] = ord(folded) if len(folded) == 1 else code
        return self[code]


_FOLD = _Fold()
_ROLES = "system|assistant|developer|human|user"
_TAGS = (
    "s|bos|eos|pad|unk|sys|start_of_turn|end_of_turn|system|assistant|user|human|developer"
    "|tools?|tool_calls?|tool_results?|tool_response|function_calls?|function_results?"
    "|invoke|think|thinking|instructions?"
    "|data|memories|earlier|pin|pinned|summary|page_table|core_memory|block"
)
_PRETENDS = re.compile(
    r"<(?=\|[ \t]*[/\w][\w .:/-]{0,47}\|>)"  # <|im_start|>
    rf"|<(?=\|(?i:im_start|im_end|im_sep|{_ROLES}|start_header_id|end_header_id|eot_id)\b)"
    # <s>, </tool_call>, and ours: </data …>. A List<user> is a type.
    rf"|(?:<(?=[ \t]*/)|(?<!\w)<(?![ \t]))(?=[ \t/]*(?:{_TAGS})(?:[ \t/>]|$))"
    r"|<(?=</?SYS>>)"
    r"|\[(?=/?(?:INST|SYSTEM_PROMPT|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS|gMASK)\])"
    r"|=(?=={4}[0-9a-f]{12})"  # the markers of the worker's prompts
    rf"|^[ \t>#*_`\-]{{0,16}}(?i:{_ROLES})(?i:[ \t]+(?:message|prompt|instructions?|turn))?"
    r"[*_`]{0,3}[ \t]{0,8}(?=:)"
    r"|^[ \t]{0,8}#{2,}[ \t]*(?i:instructions?|response)[*_]{0,3}(?=:)",
    re.MULTILINE,
)


def _harmless(text: str) -> str:
    """With a backslash in whatever a template, a role or a fence begins with."""
    folded = text if text.isascii() else text.translate(_FOLD)
    made: list[str] = []
    at = 0
    for match in _PRETENDS.finditer(folded):
        made += (text[at : match.end()], "\\")
        at = match.end()
    return "".join([*made, text[at:]]) if made else text


# --- together -------------------------------------------------------------------------------------


def clean(text: str) -> str:
    """The text with nothing hidden in it, and nothing that pretends to be more than text."""
    if not text.isascii() or _SUSPECT.search(text):
        text = _plain(_hidden(_LINE_ENDS.sub("\n", text)))
    elif _LINE_ENDS.search(text):
        text = _LINE_ENDS.sub("\n", text)
    return _harmless(text)


def clean_line(text: str) -> str:
    """The same on one line, for a list of texts in which each has a number of its own."""
    return " ".join(clean(text).split())


def clean_name(text: str, chars: int = NAME_CHARS) -> str:
    """A name from outside (of a file, a sender, a function, a source) as one short line."""
    line = clean_line(text)
    return line if len(line) <= chars else f"{line[: chars - 1]}…"
