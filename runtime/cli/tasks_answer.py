"""`pagemind tasks answer`: what a task asks a person, and the answers."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pagemind.runtime.cli.options import AsJson, HomeFolder
from pagemind.runtime.cli.tasks import TaskName

if TYPE_CHECKING:
    from pagemind.runtime.state.task_questions import Question


def answer(
    task: TaskName,
    word: Annotated[
        str | None,
        typer.Argument(metavar="[ANSWER]", help="One of the choices.", show_default=False),
    ] = None,
    label: Annotated[
        str | None,
        typer.Option("--input", metavar="INPUT", help="Only what is asked about this input."),
    ] = None,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> None:
    """Answer what a task asks; without ANSWER, each in turn on a terminal, or see what it is.

    One ANSWER is for all questions that have it among their choices. `tasks resume` goes on with
    the answers.
    """
    from pagemind.runtime.cli.render import listing, plural
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.cli.task_person import somebody
    from pagemind.runtime.errors import UserError
    from pagemind.runtime.state.ledger import Ledger
    from pagemind.runtime.tasks.report import Report

    with opened(home) as runtime:
        ledger = Ledger(runtime.home.database, runtime.clock)
        row = Report.of(ledger, task).row
        every = ledger.questions.open(row.id)
        asked = [each for each in every if label in (None, each.input)]
        if label is not None and not asked:
            known = ", ".join(dict.fromkeys(each.input for each in every)) or "none"
            raise UserError(f"{row.name} asks nothing about {label!r}", hint=f"inputs: {known}")
        answers: dict[Question, str] = {}
        if word is not None:
            answers = {each: word for each in asked if word in each.choices}
            if not answers:
                raise UserError(f"{row.name} asks nothing that {word!r} answers", hint=_hint(asked))
        elif somebody(as_json=as_json):
            answers = _each(asked)
        for question, said in answers.items():
            ledger.questions.answer(question, said)
        asked = [each for each in ledger.questions.open(row.id) if label in (None, each.input)]
    if as_json:
        listing([_item(each) for each in asked])
        return
    if answers:
        print(f"answered {plural(len(answers), 'question')}; `pagemind tasks resume {row.name}`")
    elif not asked:
        print(f"{row.name} asks nothing")
    else:
        _show(asked)


def _each(asked: "list[Question]") -> "dict[Question, str]":
    from pagemind.runtime.cancel import CancelToken
    from pagemind.runtime.cli.task_person import TaskPerson
    from pagemind.runtime.tasks.asking import Asking

    asking = Asking(TaskPerson(CancelToken()))
    answers = {}
    for question in asked:
        if said := asking.hear(question.text, question.choices):
            answers[question] = said
    return answers


def _show(asked: "list[Question]") -> None:
    from pagemind.runtime.cli.render import visible

    for each in asked:
        said = f" → {each.answer}" if each.answer else f" ({', '.join(each.choices)})"
        print(visible(f"{each.task}  {each.text}{said}"))


def _hint(asked: "list[Question]") -> str:
    choices = dict.fromkeys(choice for each in asked for choice in each.choices)
    return f"answers: {', '.join(choices)}" if choices else "nothing of it waits"


def _item(each: "Question") -> dict[str, Any]:
    from pagemind.runtime.clock import rfc3339

    return {
        "task": each.task,
        "input": each.input,
        "place": each.place,
        "about": each.about,
        "question": each.text,
        "choices": list(each.choices),
        "answer": each.answer,
        "asked_at": rfc3339(each.asked_at),
    }
