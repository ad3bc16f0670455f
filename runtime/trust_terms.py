"""The section `trust` of a definition: what an agent may do while text of strangers is in view.

It says what is allowed, never how far something is trusted: that only the runtime does.
"""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from pagemind.runtime import settings
from pagemind.runtime.definition_parts import Section, Whole, Words

Decision = Literal["ask", "refuse", "allow"]


def _several(value: object) -> object:
    return (value,) if isinstance(value, str) else value


class TrustTerms(Section):
    """A step is tainted while something untrusted stands in its window. In one, `world` says what
    becomes of functions that change the world, but for those in `allow`; `arguments` of arguments
    (addresses, URLs, paths, amounts) that were first seen in untrusted text; `archival` what
    becomes of passages: kept for a person to review, or stored with their low trust. A person is
    asked at most `questions` times a turn; what comes after is refused.

    `aside`: when untrusted text of earlier turns leaves the window: when something is refused for
    its sake, with each turn, or never. `secrets` in what is stored; `per_source`: so many of ten
    results of a search may be of one untrusted source, while there are others.
    """

    world: Decision = "ask"
    allow: Annotated[tuple[Words, ...], BeforeValidator(_several)] = ()
    arguments: Decision = "ask"
    archival: Literal["quarantine", "store"] = "quarantine"
    aside: Literal["when_needed", "each_turn", "never"] = "when_needed"
    secrets: Literal["redact", "refuse", "allow"] = "redact"
    per_source: Whole = Field(default=settings.HITS_OF_ONE_SOURCE, ge=1, le=1000)
    questions: Whole = Field(default=settings.TAINTED_QUESTIONS, ge=0, le=1000)
