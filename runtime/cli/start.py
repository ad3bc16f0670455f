"""What `pagemind` alone prints: the first screen, at most 24 lines of 80 columns."""

SCREEN = """\
pagemind: the context window is RAM, LanceDB is disk, and this is the kernel
between them. Agents that remember.

Start
  pagemind demo                watch the memory at work: no model, no key
  pagemind init                three questions: a model, embeddings, an agent
  pagemind chat                talk to an agent; it remembers

Look
  pagemind inspect ada         what fills its window
  pagemind memory search ada boat
  pagemind memory blocks ada   what it knows of you
  pagemind agents list

Without a key
  pagemind models pull         a small model on this machine

Everything: pagemind --help    A command: pagemind send --help
"""


def show() -> None:
    """On standard output."""
    print(SCREEN, end="")
