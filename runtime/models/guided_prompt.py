"""A prompt of several turns in one file: instructions, then examples, then the real question.

    What to do, in a few lines.

    > what a person says in an example
    < what the model answers
    > {{ message }}

Each example is shown to the model as a turn of its own, which very small models imitate far
better than examples within a text. What is filled in becomes one line.
"""

from dataclasses import dataclass

from pagemind.runtime.message import Message, Role, Text
from pagemind.runtime.template import Template

_TURNS: dict[str, Role] = {"> ": "user", "< ": "assistant"}


@dataclass(frozen=True, slots=True)
class GuidedPrompt:
    """Instructions, and turns of which the last is the question."""

    instructions: str
    turns: tuple[Message, ...]


def guided_prompt(template: Template, **variables: str) -> GuidedPrompt:
    """The turns of a template, filled. Raises TemplateError."""
    lines = {key: " ".join(value.split()) for key, value in variables.items()}
    instructions: list[str] = []
    turns: list[Message] = []
    for line in template.fill(**lines).splitlines():
        if role := _TURNS.get(line[:2]):
            turns.append(Message(role, (Text(line[2:]),)))
        else:
            instructions.append(line)
    return GuidedPrompt("\n".join(instructions).strip(), tuple(turns))
