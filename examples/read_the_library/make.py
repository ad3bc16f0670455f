"""Writes the documents of the library: each is about one ship, and says five things of her among
much else. The same seed gives the same documents.

    python make.py [--documents 200] [--words 1350] [--seed 1] [--folder FOLDER]
    python make.py --check          # how many of the five things are right in facts.jsonl
"""

import argparse
import json
import random
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
FIRST = "Grey Northern Little Silver Patient Copper Morning Distant Saint Winter".split()
SECOND = "Heron Lantern Ada Compass Plough Thistle Margaret Petrel Anchor Rose Tern Falcon".split()
OWNERS = "Aldous Brandt,Clara Whitlock,Ivo Marchetti,Ruth Oyelaran,Sven Halvorsen,Pilar Duarte"
PORTS = "Whitby Bergen Cadiz Lorient Stavanger Leith Trieste Kinsale".split()
WHO = "the harbour master,a clerk,the pilot,an old rigger,the carpenter,a widow of the quay".split(
    ","
)
DID = "wrote,recalled,denied,complained,noted in the margin,told the court,swore".split(",")
WHAT = (
    "that the ropes had been {a} since {m}",
    "that nobody had seen the {a} barrels after the fair of {m}",
    "that the crew was paid in {m}, and in {a} coin",
    "that the pier was too {a} for anything but herring boats",
    "that the surveyor came twice in {m} and found the hold {a}",
    "that a {a} fog lay on the roads for eleven days of {m}",
    "that the bell of the chapel was {a}, and was recast in {m}",
    "that letters of {m} had gone astray with the {a} mail coach",
)
HOW = "rotten sound wet crooked foreign heavy borrowed narrow salted doubtful mended cold".split()
MONTHS = "January March April June August October November".split()


def ship(number: int, chance: random.Random) -> dict[str, str | int]:
    return {
        "name": f"{chance.choice(FIRST)} {chance.choice(SECOND)} {number}",
        "built": chance.randint(1790, 1899),
        "tons": chance.randint(60, 2400),
        "owner": chance.choice(OWNERS.split(",")),
        "port": chance.choice(PORTS),
    }


def document(number: int, words: int, seed: int) -> tuple[str, dict[str, str | int]]:
    """Its text, and what is to be found in it."""
    chance = random.Random(f"{seed} {number}")
    true = ship(number, chance)
    said = [
        f"These papers concern the ship {true['name']}.",
        f"She was built in the year {true['built']}.",
        f"Her tonnage is given as {true['tons']} tons.",
        f"The owner was {true['owner']}.",
        f"Her home port was {true['port']}.",
    ]
    length = sum(len(each.split()) for each in said)
    sentences = []
    while length < words:
        what = chance.choice(WHAT).format(a=chance.choice(HOW), m=chance.choice(MONTHS))
        sentences.append(f"{chance.choice(WHO).capitalize()} {chance.choice(DID)} {what}.")
        length += len(sentences[-1].split())
    for each in said:
        sentences.insert(chance.randint(0, len(sentences)), each)
    paragraphs = [" ".join(sentences[at : at + 6]) for at in range(0, len(sentences), 6)]
    return f"# Papers no. {number}\n\n" + "\n\n".join(paragraphs) + "\n", true


def right(folder: Path) -> Iterator[tuple[str, int]]:
    """Each document that was read, and how many of the five things are right."""
    answers = json.loads((folder / "answers.json").read_text(encoding="utf-8"))
    for line in (folder / "facts.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        true = answers[row["document"]]
        yield row["document"], sum(row["ship"].get(key) == value for key, value in true.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=200)
    parser.add_argument("--words", type=int, default=1350, help="of each document")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=HERE, help="where they are written")
    parser.add_argument("--check", action="store_true", help="count what is right in facts.jsonl")
    given = parser.parse_args()
    if given.check:
        counts = dict(right(given.folder))
        print(f"{sum(counts.values()):,} of {5 * len(counts):,} facts are right")
        return
    target = given.folder / "documents"
    target.mkdir(parents=True, exist_ok=True)
    answers = {}
    for number in range(1, given.documents + 1):
        text, true = document(number, given.words, given.seed)
        (target / f"{number:04}.md").write_text(text, encoding="utf-8")
        answers[f"{number:04}"] = true
    (given.folder / "answers.json").write_text(json.dumps(answers, indent=1), encoding="utf-8")
    print(f"{given.documents:,} documents in {target}")


if __name__ == "__main__":
    main()
