"""run_skills(): skills in the process of the function python, and how that ended."""

import json
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.skills import SkillRun
from pagemind.tools.confined import confined

_DRIVER = Path(__file__).with_name("skill_driver.py")
_OUTPUT_CHARS = 4000  # of what failed: its end, where the error stands


def run_skills(
    asked: Mapping[str, Any], *, seconds: float, megabytes: int, cancel: CancelToken | None
) -> SkillRun:
    """Implements skills.RunCode. Raises ToolFailed where no process can be started, Cancelled."""
    word = secrets.token_hex(16)
    given = json.dumps(dict(asked))
    driver = _DRIVER.read_text(encoding="utf-8")
    code = f"{driver}\nmain(json.loads({given!r}), {word!r})\n"
    ran = confined(code, seconds=seconds, megabytes=megabytes, cancel=cancel)
    printed, found, last = ran.output.rpartition(f"\n{word}")
    if ran.code or ran.stopped:
        return SkillRun("error", ran.told()[-_OUTPUT_CHARS:])
    if not found:
        return SkillRun("error", "the process ended before it came to its end")
    try:
        told = json.loads(last)
        kind, value = str(told["kind"]), told["value"]
    except (ValueError, KeyError, TypeError):
        return SkillRun("error", "what it returned cannot be read")
    return SkillRun(kind, str(value) if kind == "arguments" else printed, value)
