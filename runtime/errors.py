"""Every error pagemind raises, grouped by who must act.

    PagemindError
    ├── UserError              the person: one line, no traceback            exit 1
    │   ├── UnknownAgent, UnknownDefinition, AgentExists, InvalidName
    │   ├── DefinitionError    a YAML file: path and line are in the message
    │   ├── TemplateError      a prompt file: absent, or its variables do not fit
    │   ├── UnknownArchive, ArchiveExists, SharedBlockExists
    │   ├── AgentInUse         another process holds the agent               exit 75
    │   │   ├── ArchiveInUse   another process writes to the archive
    │   │   ├── TaskInUse      another process runs the task
    │   │   └── HomeInUse      another process keeps the home awake
    │   ├── HomeUnusable, NoModel, WindowTooSmall, EmbeddingMismatch, NotFound
    │   ├── BadFilter          what a search is asked to look for cannot be
    │   ├── NeedsApproval      a function may be called with a person's consent only
    │   ├── IdTaken            an id of the client's that was another message's before
    │   ├── TierOutdated       a tier needs `memory rebuild`; nothing is lost
    │   ├── DocumentError      a file cannot be read as text; the message completes "<file> …"
    │   ├── BadExport          a file to import is broken, hostile or another tool's
    │   │   └── ExportTooNew   it was written by a newer pagemind
    │   └── LocalModelError    a model file is absent, truncated or wrong
    ├── ToolError              the model: it becomes the tool's result
    │   ├── UnknownTool, BadArguments, ToolFailed, RecordChanged
    │   └── BlockError         BlockNotFound, BlockReadOnly, BlockLimitExceeded, EditMismatch,
    │                      BlockChanged, ProfileMismatch
    ├── ModelError             the loop: retry, stop, evict or re-ask        exit 4
    │   ├── ContextOverflow, OutputReserveConflict
    │   ├── AuthenticationFailed, ModelNotFound, BadRequest
    │   ├── RateLimited, ModelOverloaded, ModelUnreachable, ModelTimeout, StreamBroken
    │   └── BadReply
    ├── StorageError           the disk                                      exit 4
    │   └── LostAgent, SchemaTooNew, DiskFull
    ├── LimitExceeded          a limit of the runtime itself                 exit 5
    │   └── PromptTooLarge     the request cannot fit; names every section's tokens
    └── Cancelled              a person pressed Ctrl-C                       exit 130

A message says what happened and where; `hint` says what to do next.
"""

from collections.abc import Mapping


class PagemindError(Exception):
    """The root. `exit_code` is the CLI's; `retryable`: the same call may succeed later."""

    exit_code = 4
    retryable = False

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def as_json(self) -> dict[str, object]:
        """The `error` object of contract.md."""
        return {
            "type": type(self).__name__,
            "message": self.message,
            "hint": self.hint,
            "code": self.exit_code,
            "retryable": self.retryable,
        }


# --- the person -------------------------------------------------------------------------------


class UserError(PagemindError):
    """The person gave something that cannot work; shown as one line with its hint."""

    exit_code = 1


class UnknownAgent(UserError):
    """No agent of that name in this home."""


class UnknownDefinition(UserError):
    """No shipped definition, file or path of that name."""


class AgentExists(UserError):
    """An agent of that name is there already."""


class UnknownArchive(UserError):
    """No shared archive of that name in this home."""


class ArchiveExists(UserError):
    """A shared archive of that name is there already."""


class SharedBlockExists(UserError):
    """A shared block of that name is there already."""


class InvalidName(UserError):
    """A name that cannot be an agent's, a block's or a tag's."""


class DefinitionError(UserError):
    """A definition is malformed; the message starts with file:line."""


class TemplateError(UserError):
    """A prompt is not there, or was filled with too few or too many variables."""


class NotFound(UserError):
    """A person named a message, page, passage, block or version that is not there."""


class BadFilter(UserError):
    """A search was given a filter, ranking or part that cannot be; the message says what can."""


class AgentInUse(UserError):
    """Another process or thread is running this agent."""

    exit_code = 75
    retryable = True


class ArchiveInUse(AgentInUse):
    """Another process or thread is writing to this archive; it can be read meanwhile."""


class TaskInUse(AgentInUse):
    """Another process is running this task."""


class HomeInUse(AgentInUse):
    """Another process keeps this home awake."""


class HomeUnusable(UserError):
    """The home folder cannot be read or written."""


class NoModel(UserError):
    """No model is configured, and none was found."""


class WindowTooSmall(UserError):
    """The fixed part leaves too little room; the message lists each section's tokens."""


class EmbeddingMismatch(UserError):
    """A table was made by one embedding model and opened with another; both are named."""


class NeedsApproval(UserError):
    """A function was called by hand that asks a person before each call, and nobody is there."""


class IdTaken(UserError):
    """A client's id of a message that was another message's before, or of one taken back."""


class TierOutdated(UserError):
    """A LanceDB table was written by an older recipe; it can be rebuilt from the authority."""


class DocumentError(UserError):
    """A file that cannot be read as text. The message ends a sentence: `is a broken PDF: …`."""


class BadExport(UserError):
    """A file to import is not what it should be: truncated, altered, unsafe or another tool's."""


class ExportTooNew(BadExport):
    """A file to import was written by a newer pagemind; nothing was imported."""


class LocalModelError(UserError):
    """A local model file is unknown, absent, truncated or not what its hash says."""


class MissingExtra(UserError):
    """An optional package is not installed; the hint has the pip command."""


# --- the model --------------------------------------------------------------------------------


class ToolError(PagemindError):
    """Something the model did wrong; its text becomes the tool's result."""


class UnknownTool(ToolError):
    """The model called a function that does not exist."""


class BadArguments(ToolError):
    """The arguments of a call are not what the function takes."""


class ToolFailed(ToolError):
    """The function ran and could not do what was asked."""


class ToolHung(ToolFailed):
    """The function did not answer in its time and was given up: it may still be at work."""


class RecordChanged(ToolError):
    """A record is not in the version that a change was planned on. Read it and plan anew."""


class BlockError(ToolError):
    """An edit of core memory that was refused; the value is unchanged."""


class BlockNotFound(BlockError):
    """No block of that label."""


class BlockReadOnly(BlockError):
    """The block may not be edited by the model."""


class BlockLimitExceeded(BlockError):
    """The new value would be longer than the block's limit."""


class EditMismatch(BlockError):
    """The old text of an edit occurs nowhere, or more than once."""


class BlockChanged(BlockError):
    """Another agent has changed a shared block since this one saw it; the text of now is told."""


class ProfileMismatch(BlockError):
    """The new value of a profile is no JSON, breaks its schema, or would empty it."""


# --- the loop ---------------------------------------------------------------------------------


class ModelError(PagemindError):
    """A model call failed. `retry_after` is in seconds where the provider said so."""

    def __init__(self, message: str, *, hint: str = "", retry_after: float | None = None) -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after


class ContextOverflow(ModelError):
    """The provider says that the prompt is longer than its window."""


class OutputReserveConflict(ModelError):
    """Prompt plus max_tokens exceed the window although the prompt alone would fit."""


class AuthenticationFailed(ModelError):
    """A key is missing or refused."""


class ModelNotFound(ModelError):
    """The provider does not know this model."""


class BadRequest(ModelError):
    """The provider refused the request for a reason that repeating will not mend."""


class RateLimited(ModelError):
    """Too many requests; retry after a wait."""

    retryable = True


class ModelOverloaded(ModelError):
    """The provider failed on its side (5xx)."""

    retryable = True


class ModelUnreachable(ModelError):
    """No connection could be made."""

    retryable = True


class ModelTimeout(ModelError):
    """No answer within the deadline."""

    retryable = True


class StreamBroken(ModelError):
    """The stream ended in the middle of a reply."""

    retryable = True


class BadReply(ModelError):
    """The reply could not be read (HTML, no choices, not the wire format)."""

    retryable = True


# --- the disk ---------------------------------------------------------------------------------


class StorageError(PagemindError):
    """The state database or a tier could not be read or written."""


class LostAgent(StorageError):
    """Another process took this agent over while we were suspended; nothing was written."""


class SchemaTooNew(StorageError):
    """The home was written by a newer pagemind; it was left untouched."""

    exit_code = 1


class DiskFull(StorageError):
    """No space left; what was acknowledged is intact."""


# --- limits -----------------------------------------------------------------------------------


class LimitExceeded(PagemindError):
    """A limit of the runtime was reached."""

    exit_code = 5


class PromptTooLarge(LimitExceeded):
    """The request cannot be made to fit the window. `sections` maps each section to its tokens."""

    def __init__(self, message: str, *, sections: Mapping[str, int], hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.sections = dict(sections)


class Cancelled(PagemindError):
    """A person stopped the turn."""

    exit_code = 130
