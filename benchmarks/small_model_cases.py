"""The cases of small_model.py: single steps, easy and harder, and a talk with ten facts.

Two sets of the same kinds. `known` was in sight while prompts and rules were written. `fresh` was
written afterwards; its first run gave 20 of 24 steps and 9 of 10 answers (8 from core memory
alone), and general faults that it showed were mended since. A new claim needs a new set.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Case:
    """One step. `want` is a kind of function (store, search) or "reply"; every word of `words`
    must be in its arguments or text, one alternative (a|b) each; none of `never`."""

    kind: str
    said: str
    want: str
    words: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    earlier: tuple[str, ...] = ()  # user, assistant, user, …
    done: tuple[tuple[str, dict[str, str], str], ...] = field(default=())  # call and its result


def _found(who: str, text: str) -> str:
    """A search's answer with one line."""
    head = "1 match among 80 messages\n-- conversation 2, Monday, 4 May 2026"
    return f"{head}\nm12 09:10 {who}: {text}"


KNOWN = (
    "name is Ada",
    "lives in Lisbon",
    "favourite color is green",
    "dog is called Rex",
    "works as a nurse",
)

EASY = [
    Case("store", "My name is Ada and I love hiking. Remember it.", "store", ("ada",)),
    Case("store", "I have a cat called Miso.", "store", ("miso",)),
    Case("store", "My birthday is on 14 July.", "store", ("14 july|july 14",)),
    Case("store", "I work as a carpenter in Leiria.", "store", ("carpenter",)),
    Case("core", "What is my name?", "reply", ("ada", "your|you"), known=KNOWN),
    Case("core", "What is my dog called?", "reply", ("rex",), known=KNOWN),
    Case("core", "Where do I live?", "reply", ("lisbon", "you"), known=KNOWN),
    Case("recall", "What did I tell you about my boat last week?", "search", ("boat",)),
    Case("recall", "Which restaurant did we talk about in March?", "search", ("restaurant",)),
    Case("recall", "Do you remember what the doctor said?", "search", ("doctor",), known=KNOWN),
    Case("chat", "Hello, how are you?", "reply", never=("hello, how are you",), known=KNOWN),
    Case("chat", "Tell me a joke.", "reply", known=KNOWN),
]

HARDER = [
    Case("implicit", "I just moved to Porto.", "store", ("porto",), known=KNOWN),
    Case(
        "implicit",
        "My favourite color is blue, not green.",
        "store",
        ("blue",),
        known=KNOWN,
    ),
    Case("implicit", "I'm vegan, keep that in mind.", "store", ("vegan",), known=KNOWN),
    Case("recall", "What was the code for the garage again?", "search", ("garage",), known=KNOWN),
    Case(
        "archive",
        "Save this for later: the boiler was serviced by Kline on 3 May.",
        "store",
        ("kline", "3 may|may 3"),
    ),
    Case("archive", "Search your notes for the project deadline.", "search", ("deadline",)),
    Case(
        "two facts",
        "What is my name and what is my dog called?",
        "reply",
        ("ada", "rex"),
        known=KNOWN,
    ),
    Case(
        "chain",
        "Where did I park the car?",
        "reply",
        ("church",),
        known=KNOWN,
        done=(
            (
                "recall_search",
                {"query": "park car"},
                "1 match among 212 messages\n-- conversation 3, Monday, 4 May 2026\n"
                "m41 (p2) 14:03 user: I parked the car behind the church.",
            ),
        ),
    ),
    Case(
        "chain",
        "Which book did Paul recommend?",
        "reply",
        ("moby",),
        done=(
            (
                "recall_search",
                {"query": "book Paul recommended"},
                "2 matches among 90 messages\n-- conversation 1, Friday, 1 May 2026\n"
                "m7 10:12 user: Paul recommended the book Moby Dick to me.\n"
                "m8 10:12 assistant: A good choice!",
            ),
        ),
    ),
    Case(
        "chain",
        "I'm allergic to nuts. Can you keep that in mind?",
        "reply",
        ("nut",),
        done=(
            (
                "core_append",
                {"block": "human", "content": "is allergic to nuts"},
                "human is now:\nis allergic to nuts",
            ),
        ),
    ),
    Case(
        "other",
        "My sister Nina is getting married in June. What should I give her?",
        "store",
        ("nina", "june"),
        known=KNOWN,
    ),
    Case("other", "That was all for today, goodbye!", "reply", known=KNOWN),
]

TALK = [
    ("Hi! My name is Ada.", "What's my name?", "ada"),
    ("I just moved to Porto.", "Where do I live?", "porto"),
    ("I have a dog called Rex.", "What is my dog called?", "rex"),
    ("I'm vegan, keep that in mind.", "Do I eat meat?", r"vegan|no\b"),
    ("My favourite color is blue, not green.", "What is my favourite color?", "blue"),
    ("My sister Nina is getting married in June.", "When is my sister getting married?", "june"),
    ("I work as a nurse at St. Mary's.", "What do I do for a living?", "nurse"),
    ("We named our boat Nomad.", "What's our boat called?", "nomad"),
    ("I'm allergic to peanuts, so be careful.", "What am I allergic to?", "peanut"),
    ("I've been playing the cello since I was six.", "Which instrument do I play?", "cello"),
]

FRESH_KNOWN = (
    "name is Jonas",
    "lives in Graz",
    "husband Emil is a baker",
    "drives a blue van",
    "has two cats",
    "is left-handed",
    "birthday is on 9 May",
    "favourite band is Muse",
    "is learning Polish",
)

FRESH_EASY = [
    Case("store", "I'm Priya, nice to meet you!", "store", ("priya",)),
    Case("store", "My parents live in Turin.", "store", ("turin",)),
    Case("store", "I play tennis every Sunday.", "store", ("tennis",)),
    Case("store", "We have two kids, Leo and Mia.", "store", ("leo", "mia")),
    Case("core", "How many cats do I have?", "reply", ("two|2",), known=FRESH_KNOWN),
    Case("core", "Which car do I drive?", "reply", ("van",), known=FRESH_KNOWN),
    Case("core", "What's my husband's job?", "reply", ("baker",), known=FRESH_KNOWN),
    Case(
        "recall",
        "What was the hotel called that I mentioned?",
        "search",
        ("hotel",),
        known=FRESH_KNOWN,
    ),
    Case(
        "recall",
        "Did I tell you when the plumber comes?",
        "search",
        ("plumber",),
        known=FRESH_KNOWN,
    ),
    Case(
        "recall", "What did we decide about the kitchen?", "search", ("kitchen",), known=FRESH_KNOWN
    ),
    Case("chat", "Good morning, what a lovely day!", "reply", known=FRESH_KNOWN),
    Case("chat", "Why is the sky blue?", "reply", ("light|sun|scatter|blue",), known=FRESH_KNOWN),
]

FRESH_HARDER = [
    Case(
        "implicit", "I've started a new job at Siemens.", "store", ("siemens",), known=FRESH_KNOWN
    ),
    Case(
        "implicit",
        "Actually we sold the van and bought a Vespa.",
        "store",
        ("vespa",),
        known=FRESH_KNOWN,
    ),
    Case(
        "implicit",
        "No, my birthday is on 10 May, not 9 May.",
        "store",
        ("10 may",),
        known=FRESH_KNOWN,
    ),
    Case(
        "implicit",
        "Coffee gives me headaches, so I only drink tea.",
        "store",
        ("tea|coffee",),
        known=FRESH_KNOWN,
    ),
    Case("recall", "Where did I leave my passport?", "search", ("passport",), known=FRESH_KNOWN),
    Case(
        "archive",
        "Please remember that the alarm code is 5580.",
        "store",
        ("5580",),
        known=FRESH_KNOWN,
    ),
    Case(
        "two",
        "What is my name and when is my birthday?",
        "reply",
        ("jonas", "9 may|may 9"),
        known=FRESH_KNOWN,
    ),
    Case(
        "chain",
        "Where did I leave my passport?",
        "reply",
        ("drawer",),
        known=FRESH_KNOWN,
        done=(
            (
                "recall_search",
                {"query": "passport"},
                _found("user", "My passport is in the kitchen drawer."),
            ),
        ),
    ),
    Case(
        "chain",
        "What did you suggest for dinner yesterday?",
        "reply",
        ("risotto",),
        done=(
            (
                "recall_search",
                {"query": "suggest dinner"},
                _found("assistant", "I suggest a mushroom risotto for dinner."),
            ),
        ),
    ),
    Case(
        "chain",
        "When is my dentist appointment?",
        "reply",
        ("not told|don't know|do not know|not know",),
        known=FRESH_KNOWN,
        done=(
            ("recall_search", {"query": "dentist appointment"}, "0 matches among 80 messages"),
            ("archival_search", {"query": "dentist appointment"}, "0 matches among 3 passages"),
        ),
    ),
    Case("nothing", "I'm so tired today.", "reply", known=FRESH_KNOWN),
    Case("nothing", "Thanks, that's all I needed. See you!", "reply", known=FRESH_KNOWN),
]

FRESH_TALK = [
    ("Hey, I'm Marta.", "What is my name?", "marta"),
    ("I grew up in Krakow but I live in Vienna now.", "Which city do I live in?", "vienna"),
    ("My son Tim just turned seven.", "How old is my son?", "seven|7"),
    ("I can't stand olives.", "Which food do I dislike?", "olive"),
    ("I'm training for a marathon in October.", "What am I training for?", "marathon"),
    ("My boss is called Helga and she is very strict.", "Who is my boss?", "helga"),
    ("We're going to Iceland in August.", "Where are we going in August?", "iceland"),
    ("My phone number ends in 4417.", "What does my phone number end in?", "4417"),
    ("I lost my left thumb in an accident.", "What happened to my thumb?", "lost|accident"),
    ("Oh, and my best friend Olu is a pilot.", "What does my best friend do?", "pilot"),
]

Saying = tuple[str, str, str]  # what is said, the question about it, and a pattern of the answer


@dataclass(frozen=True)
class CaseSet:
    """Steps and talk."""

    easy: list[Case]
    harder: list[Case]
    talk: list[Saying]


SETS = {
    "known": CaseSet(EASY, HARDER, TALK),
    "fresh": CaseSet(FRESH_EASY, FRESH_HARDER, FRESH_TALK),
}
