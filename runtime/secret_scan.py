"""Secrets in a text: keys, tokens and passwords, found by their form. Pure; nothing is asked of a
network.

The patterns of bc-detect-secrets know the usual clouds and services; those of newer ones, and what
a text itself calls a password, stand here. Only what is surely a secret by its form is found: what
merely looks random (a hash, an id, a file name) is most often none. A text without anything of the
kind, as nearly all are, costs one search, and the library is not even loaded.
"""

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

# Names of variables and fields whose values are secrets.
SECRET_NAME = re.compile(
    r"(?:^|[_\W])(?:api_?key|access_?key|keys?|token|secret|passw(?:or)?d|passphrase|credentials?"
    r"|authorization|cookie|bearer|pat)(?:$|[_\W])",
    re.IGNORECASE,
)
# Without one of these there is none.
_MAY = re.compile(
    r"[\w-]{16}|://[^\s/]*@|(?i:passw(?:or)?d|passphrase|secret|token|key)\W{0,3}[:=]"
)
# Of the library: those that know a secret by itself, not by how random it is.
_DETECTORS = (
    *("aws.AWSKeyDetector", "azure_storage_key.AzureStorageKeyDetector"),
    *("discord.DiscordBotTokenDetector", "github_token.GitHubTokenDetector"),
    *("jwt.JwtTokenDetector", "mailchimp.MailchimpDetector", "sendgrid.SendGridDetector"),
    *("slack.SlackDetector", "square_oauth.SquareOAuthDetector", "stripe.StripeDetector"),
    "twilio.TwilioKeyDetector",
)
# What is found by name alone must also look like a secret: letters and digits.
_MIXED = r"(?=[^\s\"'`]*\d)(?=[^\s\"'`]*[A-Za-z])"
_FORMS = (
    (
        "private key",
        r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z ]*-----|\Z)",
    ),
    ("anthropic key", r"\bsk-ant-[\w-]{24,}"),
    ("openrouter key", r"\bsk-or-v1-[0-9a-f]{32,}"),
    ("openai key", r"\bsk-(?:(?:proj|svcacct|admin)-[\w-]{32,}|[A-Za-z0-9]{32,})"),
    ("google key", r"\bAIza[\w-]{35}(?![\w-])"),
    ("hugging face token", r"\bhf_[A-Za-z0-9]{30,}"),
    ("github token", r"\bgithub_pat_\w{40,}"),
    ("gitlab token", r"\bglpat-[\w-]{20,}"),
    ("pypi token", r"\bpypi-AgE[\w-]{40,}"),
    ("npm token", r"\bnpm_[A-Za-z0-9]{36}"),
    ("telegram token", r"\b\d{8,10}:AA[\w-]{33}(?![\w-])"),
    ("groq key", r"\bgsk_[A-Za-z0-9]{40,}"),
    ("xai key", r"\bxai-[A-Za-z0-9]{60,}"),
    ("password in an address", r"(?<=://)[^\s/:@]{0,64}:(?P<secret>[^\s/@]{3,})(?=@[\w.-])"),
    ("bearer token", rf"\b(?i:bearer)\s+(?P<secret>{_MIXED}[\w\-.=/+~]{{20,}})"),
    (
        "password",
        r"(?i:\b(?:\w+[_-])?(?:api[_-]?key|access[_-]?key|secret(?:[_-]?key)?|token|passw(?:or)?d"
        rf"|passphrase|pwd))[\"'`]?\s{{0,3}}[:=]\s{{0,3}}[\"'`]?(?P<secret>{_MIXED}[^\s\"'`\[/]{{8,}})",
    ),
)


@dataclass(frozen=True, slots=True)
class Secret:
    """Where one stands in a text, and of which kind it is."""

    kind: str
    start: int
    end: int


def secrets_in(text: str) -> list[Secret]:
    """All of them, in their order; none within another."""
    if not _MAY.search(text):
        return []
    found = sorted(_all(text), key=lambda each: (each.start, -each.end))
    kept: list[Secret] = []
    for each in found:
        if not kept or each.start >= kept[-1].end:
            kept.append(each)
    return kept


def without(text: str, found: Sequence[Secret]) -> str:
    """The text with the kind of each secret in its place."""
    for each in reversed(found):
        text = f"{text[: each.start]}[secret: {each.kind}]{text[each.end :]}"
    return text


def _all(text: str) -> Iterator[Secret]:
    for kind, pattern in _patterns():
        for match in pattern.finditer(text):
            start, end = match.span("secret" if "secret" in pattern.groupindex else 0)
            yield Secret(kind, start, end)


@functools.cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    from importlib import import_module

    patterns = [(kind, re.compile(form, re.DOTALL)) for kind, form in _FORMS]
    for name in _DETECTORS:
        module, _, detector = name.partition(".")
        made = getattr(import_module(f"detect_secrets.plugins.{module}"), detector)()
        patterns += [(made.secret_type.lower(), form) for form in made.denylist]
    return tuple(patterns)
