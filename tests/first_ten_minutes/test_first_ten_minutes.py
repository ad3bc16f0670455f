"""The first ten minutes with the embedded model: ten sayings, a kill, a restart, ten questions.

The model is the default of the catalogue and real; where it was not pulled the test is skipped.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from pagemind.runtime.errors import LocalModelError
from pagemind.runtime.models.catalogue import default_name
from pagemind.runtime.models.pull import find
from pagemind.runtime.runtime import Runtime

# What a newcomer says, what is asked another day, and a pattern that the answer must hold.
TALK = [
    ("Hello, I'm Rosa.", "What is my name?", "rosa"),
    ("I live in Ghent with my two kids.", "Which town do I live in?", "ghent"),
    ("My son Pieter starts school in September.", "When does Pieter start school?", "september"),
    ("I'm a translator, mostly from Dutch to Spanish.", "What is my job?", "translat"),
    (
        "Please don't suggest seafood, I'm allergic to shellfish.",
        "What am I allergic to?",
        "shellfish",
    ),
    ("We just got a puppy, she's called Pip.", "What is our puppy called?", "pip"),
    ("I drive an old Volvo.", "Which car do I drive?", "volvo"),
    ("My mother's birthday is on 3 March.", "When is my mother's birthday?", "3 march|march 3"),
    ("I've been learning the accordion this year.", "Which instrument do I learn?", "accordion"),
    (
        "The wifi password at the cabin is larch-42, keep it.",
        "What is the wifi password at the cabin?",
        "larch-42",
    ),
]

# Said by a process that is killed as soon as the last reply is there.
SPEAKER = """
import os, signal, sys
from pagemind.runtime import Runtime
runtime = Runtime(sys.argv[1])
agent = runtime.agent("rosa", "assistant", model=sys.argv[2])
for saying in sys.argv[3:]:
    result = agent.send(saying)
    print(f"> {saying}\\n< {result.text}", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def _present() -> bool:
    try:
        find(default_name())
    except LocalModelError:
        return False
    return True


@pytest.mark.local_model
@pytest.mark.skipif(not _present(), reason=f"{default_name()} is not pulled")
def test_what_was_said_before_a_kill_is_answered_after_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At least nine of ten questions about what was said are answered."""
    monkeypatch.setenv("PAGEMIND_MODELS", str(find(default_name()).parent))
    model = f"local/{default_name()}"
    said = subprocess.run(
        [sys.executable, "-c", SPEAKER, str(tmp_path), model, *(saying for saying, _, _ in TALK)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.stdout.count("\n<") == len(TALK), said.stderr
    print(said.stdout)
    right = 0
    with Runtime(tmp_path) as runtime:
        agent = runtime.agent("rosa", create=False)
        print(agent.context.core.get("human").value)
        for _, question, pattern in TALK:
            answer = agent.send(question).text
            found = bool(re.search(pattern, answer, re.IGNORECASE))
            print(f"{'+' if found else '-'} {question} {answer}")
            right += found
    assert right >= 9
