"""What is a secret, and that it does not get through."""

import pytest

from pagemind.runtime.models.redact import PROVIDER_KEYS, redact, secrets_of


def test_what_a_call_was_given_is_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key, headers whatever their name, parameters named like a key, and the address's own."""
    for name in PROVIDER_KEYS.values():
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GROQ_API_KEY", "from-the-environment")
    secrets = secrets_of(
        "given-as-key",
        "https://person:pass-word@example.org/v1",
        {
            "temperature": 0.5,
            "user": "not a secret",
            "extra_headers": {"X-Team": "of-a-header", "Authorization": "Bearer of-a-bearer"},
            "extra_body": {"vendor": {"access_token": ["nested-token"]}},
        },
    )
    assert set(secrets) == {
        "given-as-key",
        "from-the-environment",
        "person",
        "pass-word",
        "of-a-header",
        "Bearer of-a-bearer",
        "of-a-bearer",
        "nested-token",
    }


def test_a_longer_secret_goes_first() -> None:
    """One that holds another is not left in halves."""
    assert redact("a of-a-bearer-too b", secrets_of("of-a-bearer-too", None, {})) == "a *** b"
    assert redact("x secret-long y", sorted(["secret-long", "secret"], key=len)[::-1]) == "x *** y"


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("Incorrect API key: sk-abcdefgh1234.", "Incorrect API key: ***."),
        ("Authorization: Bearer abc.def", "Authorization: Bearer ***"),
        ("GET /v1?key=AAAA&x=1", "GET /v1?key=***&x=1"),
        ("https://me:word@host/v1 cannot be reached", "https://***@host/v1 cannot be reached"),
        ("AIzaSyA1234567890 is wrong", "*** is wrong"),
        ("the sky-blue key-ring", "the sky-blue key-ring"),
    ],
)
def test_what_looks_like_a_key_goes(text: str, clean: str) -> None:
    """Also a key that we were never given; words that only begin like one stay."""
    assert redact(text, ()) == clean
