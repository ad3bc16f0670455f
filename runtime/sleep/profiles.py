"""The job "profiles": what was found about somebody who has a profile sets fields of it.

`semantic: both`: before a candidate is compared with the records it is held against the profiles;
`profile`: there are no records for it, and what no field is for is left. Each change of a block is
a row first, as those of records are. A value must stand in the fact; nothing is deleted or emptied;
what is less trusted, or said by others of somebody who speaks here, waits for a person.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from pagemind.runtime import profile_path
from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.cleaning import clean_line
from pagemind.runtime.core_memory import Block
from pagemind.runtime.entity_names import is_first_person, plain
from pagemind.runtime.errors import NotFound, PagemindError
from pagemind.runtime.message import TRUST
from pagemind.runtime.profile import Profile
from pagemind.runtime.profile_outline import outline
from pagemind.runtime.settings import CHANGE_ATTEMPTS, CONSOLIDATE_AT_ONCE, JOB_REPLY_TOKENS
from pagemind.runtime.sleep.answer import text_of
from pagemind.runtime.sleep.asked import asked, whole
from pagemind.runtime.sleep.job import SleepContext
from pagemind.runtime.state.changes import Change
from pagemind.runtime.step_trust import untrusted
from pagemind.runtime.template import load
from pagemind.runtime.untrusted import marker
from pagemind.runtime.wording import mentions

_PERSON = ("human", "person", "user")  # a block for whoever speaks
_FINDERS = ("extract", "promote")  # jobs that read what people said
_SEEN = "profiled"  # of a candidate's body: it was held against the profiles
_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "changes": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "fact": {"type": "integer"},
                    "block": {"type": "string"},
                    "path": {"type": "string"},
                    "value": {},
                },
                "required": ["fact", "block", "path", "value"],
            },
        }
    },
    "required": ["changes"],
}


@dataclass(frozen=True, slots=True)
class _Patch:
    """One field of one profile, for one candidate."""

    candidate: Change
    block: Block
    path: str
    value: Any


def for_profiles(context: SleepContext, change: Change) -> bool:
    """Whether a candidate waits to be held against the profiles, or is for them alone."""
    if context.semantic == "collection" or not context.profiles or change.job not in _FINDERS:
        return False
    if untrusted(change.trust):
        return False  # it waits for a person, as a record
    if context.semantic == "profile":
        return True
    return context.model is not None and not change.body.get(_SEEN)


class Profiles:
    """Candidates set fields."""

    name = "profiles"

    def due(self, context: SleepContext) -> bool:
        if context.core is None or context.model is None or not context.may_write("working"):
            return False
        return bool(self._planned(context) or any(True for _ in _candidates(context)))

    def run(self, context: SleepContext, cancel: CancelToken) -> None:
        while True:
            cancel.check()
            with context.held():
                for change in self._planned(context):
                    _make(context, change)
                waiting = list(islice(_candidates(context), CONSOLIDATE_AT_ONCE))
                blocks = {each.label: each for each in context.state.blocks.all()}
            if not waiting:
                return
            profiles = {
                label: profile
                for label, profile in context.profiles.items()
                if label in blocks and not blocks[label].read_only
            }
            about = {each.number: _about(each, profiles) for each in waiting}
            patches: list[_Patch] = []
            least = TRUST["model"]
            if any(about.values()):
                meant = [each for each in waiting if about[each.number]]
                prompt = _prompt(meant, profiles, blocks)
                room = context.room() - context.reply(JOB_REPLY_TOKENS)
                while len(meant) > 1 and context.count(prompt) > room:  # the rest comes after it
                    meant = meant[: len(meant) // 2]
                    waiting = [each for each in waiting if each.number <= meant[-1].number]
                    prompt = _prompt(meant, profiles, blocks)
                answer = asked(context, prompt, _SCHEMA, cancel)
                if answer is None:
                    _failed(context, meant)
                    continue
                patches = _patches(answer["changes"], meant, about, profiles, blocks)
                with context.held():  # all that the model was shown
                    of = map(context.state.blocks.trust_of, profiles)
                    least = min(least, *(each.trust for each in meant), *of)
            with context.held():
                self._plan(context, waiting, patches, least)

    def _planned(self, context: SleepContext) -> list[Change]:
        return context.state.changes.in_state("planned", job=self.name)

    def _plan(
        self,
        context: SleepContext,
        waiting: Sequence[Change],
        patches: Sequence[_Patch],
        least: int,
    ) -> None:
        """The rows of all fields, and what becomes of the candidates, in one transaction."""
        changes = context.state.changes
        with context.state.database.transaction():
            settled: list[_Patch] = []
            for each in waiting:
                now = changes.open(each.number)
                if now is None or now.state != "candidate" or now.body.get(_SEEN):
                    continue  # somebody else was faster
                own = [patch for patch in patches if patch.candidate.number == each.number]
                settled += own
                body = {**each.body, _SEEN: True}
                if context.semantic == "both":
                    changes.plan(each.number, "", state="candidate", body=body)
                    continue
                why = "it is for a profile" if own else "no field of a profile is for it"
                changes.plan(each.number, "noop", state="planned", body=body, why=why)
                changes.settle(each.number, "noop", by="worker")
                context.report.count("noop", int(not own))
            for row in _rows(context, self.name, settled, least):
                _make(context, row)


def _candidates(context: SleepContext) -> Iterator[Change]:
    found = context.state.changes.candidates(has="text")
    return (each for each in found if for_profiles(context, each))


def _about(candidate: Change, profiles: Mapping[str, Profile]) -> str:
    """The label of the profile of whom a candidate is about; "" for none."""
    subject = str(candidate.body.get("subject") or "")
    speaker = str(candidate.body.get("speaker") or "")
    if not subject:
        return ""
    for label in profiles:
        if plain(label.replace("_", " ").replace("-", " ")) == plain(subject):
            return label
    own = is_first_person(subject) or plain(subject) == plain(speaker)
    return next((label for label in _PERSON if own and label in profiles), "")


def _prompt(
    meant: Sequence[Change], profiles: Mapping[str, Profile], blocks: Mapping[str, Block]
) -> str:
    shown = "\n".join(
        f"Profile {label}: fields {outline(profile.schema)}\nholds {blocks[label].value or '{}'}"
        for label, profile in profiles.items()
    )
    facts = "\n".join(
        f"Fact {at}: {clean_line(str(each.body['text']))}" for at, each in enumerate(meant, 1)
    )
    return load("profile_patch").fill(fence=marker(shown + facts), profiles=shown, facts=facts)


def _patches(
    answer: Sequence[Mapping[str, Any]],
    meant: Sequence[Change],
    about: Mapping[int, str],
    profiles: Mapping[str, Profile],
    blocks: Mapping[str, Block],
) -> list[_Patch]:
    """Those that hold: of the profile of whom the fact is about, with a value that stands in it."""
    found: list[_Patch] = []
    for item in answer[: 4 * CONSOLIDATE_AT_ONCE]:
        at, path = whole(item.get("fact")), text_of(item, "path", 200)
        if at is None or not 1 <= at <= len(meant) or not path:
            continue
        candidate = meant[at - 1]
        label = about[candidate.number]
        said = f"{candidate.body['text']}\n{candidate.body.get('quote') or ''}"
        value = item.get("value")
        if item.get("block") != label or not _stands_in(said, value):
            continue
        try:
            profiles[label].patched(blocks[label].value, {path: value})
        except PagemindError:
            continue
        found.append(_Patch(candidate, blocks[label], path, value))
    return found


def _stands_in(said: str, value: Any) -> bool:
    """Whether every text and number of a value was said; nothing is no value."""
    if isinstance(value, bool):
        return True
    if isinstance(value, dict):
        return bool(value) and all(_stands_in(said, each) for each in value.values())
    return isinstance(value, str | int | float) and bool(str(value)) and mentions(said, str(value))


def _rows(context: SleepContext, job: str, patches: Sequence[_Patch], least: int) -> list[Change]:
    """A row for each profile, with all its fields, and another for those that wait for a person.
    The ones that do not wait. `least` is the trust of all that the model was shown."""
    state = context.state
    groups: dict[tuple[str, bool], list[_Patch]] = {}
    for patch in patches:
        told = patch.candidate
        low = min(told.trust, least) < TRUST["model"]
        waits = context.review or low or _of_another(context, told)
        groups.setdefault((patch.block.label, waits), []).append(patch)
    rows = []
    for (label, waits), own in groups.items():
        block = own[0].block
        fields = [[patch.path, patch.value] for patch in own]
        after = _with(context.profiles[label], block.value, fields)
        if after == block.value:
            continue
        row = state.changes.add(
            job,
            "block",
            {"fields": fields, "before": block.value, "after": after},
            state="pending" if waits else "planned",
            seq=state.journal.last_seq,
            target=label,
            base=block.version,
            why="; ".join(dict.fromkeys(str(patch.candidate.body["text"]) for patch in own)),
            sources=list(dict.fromkeys(id for patch in own for id in patch.candidate.sources)),
            trust=min(least, *(patch.candidate.trust for patch in own)),
        )
        context.report.count("pending", int(waits))
        if not waits:
            rows.append(row)
    return rows


def _with(profile: Profile, text: str, fields: Sequence[Any]) -> str:
    """A profile with fields set, one after another; those that do not go together are left out,
    and what a list has it is not given again."""
    for path, value in fields:
        with contextlib.suppress(PagemindError, ValueError):
            if not _has(profile.read(text), path, value):
                text = profile.patched(text, {path: value})
    return text


def _has(held: Any, path: str, value: Any) -> bool:
    """Whether a value that is for the end of a list stands in it."""
    *way, last = profile_path.parse(path)
    for step in way:
        if isinstance(held, list) and step.isdecimal():
            held = held[int(step)] if int(step) < len(held) else None
        else:
            held = held.get(step) if isinstance(held, dict) else None
    return last == profile_path.END and isinstance(held, list) and value in held


def _of_another(context: SleepContext, candidate: Change) -> bool:
    """Whether somebody tells it of another who speaks here, too."""
    subject = plain(str(candidate.body.get("subject") or ""))
    if subject == plain(str(candidate.body.get("speaker") or "")):
        return False
    return subject in {plain(each) for each in context.state.journal.speakers()}


def _make(context: SleepContext, change: Change) -> None:
    """Set the fields in what the block holds now; under the lock."""
    assert context.core is not None
    state, label = context.state, change.target
    try:
        with state.database.transaction():
            now = {each.label: each.value for each in state.blocks.all()}
            if label not in now or label not in context.profiles:
                raise NotFound(f"{label} is no profile any more")
            after = _with(context.profiles[label], now[label], change.body["fields"])
            context.core(change.trust).rewrite(label, after)
            version = next(each.version for each in state.blocks.all() if each.label == label)
            state.lineage.add(
                f"block:{label}",
                change.sources,
                "from",
                seq=state.journal.last_seq,
                version=version,
            )
            state.changes.settle(change.number, "applied", by="worker", result=f"{label}@{version}")
    except PagemindError as error:
        state.changes.failed(change.number, error.message, most=1)
        context.report.count("dead")
    else:
        context.report.count("fields set")


def _failed(context: SleepContext, meant: Sequence[Change]) -> None:
    with context.held(), context.state.database.transaction():
        for each in meant:
            if context.semantic == "both" and each.attempts + 1 >= CHANGE_ATTEMPTS:
                body = {**each.body, _SEEN: True}  # it is a record all the same
                context.state.changes.plan(each.number, "", state="candidate", body=body)
                continue
            reason = "no answer to which fields it sets"
            if context.state.changes.failed(each.number, reason, most=CHANGE_ATTEMPTS) == "dead":
                context.report.count("dead")
