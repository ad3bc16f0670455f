"""Fifty identifiers that a search must find at rank 1, each beside one that differs in a character.

Made up: example domains, and telephone numbers from ranges kept for fiction.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Identifier:
    """`told` says it once; `near` says another so like it that half a match is wrong."""

    kind: str
    word: str
    near: str
    query: str

    @property
    def told(self) -> str:
        return _TOLD[self.kind].format(v=self.word)

    @property
    def beside(self) -> str:
        return _BESIDE[self.kind].format(v=self.near)


_TOLD = {
    "ticket": "I put the leaking tap down as {v} so that nobody forgets it.",
    "file": "The floor plan is in {v}, second drawer.",
    "url": "The timetable moved to {v} last night.",
    "mail": "Write to {v} if the key does not turn.",
    "path": "The old photographs lie under {v} on the box.",
    "version": "It stopped crashing with {v}, finally.",
    "phone": "The plumber answers at {v}, mornings only.",
}
_BESIDE = {
    "ticket": "The other one, {v}, is about the lamp and can wait.",
    "file": "There is also {v}, but that one is empty.",
    "url": "Do not use {v}, it was never finished.",
    "mail": "Mails to {v} come back.",
    "path": "Nothing under {v} any more.",
    "version": "With {v} it still crashed.",
    "phone": "At {v} nobody picks up.",
}
_PAIRS = {
    "ticket": "ABC-1234 ABC-1243, KX-4471 KX-4417, HOME-88 HOME-89, TAP-2025 TAP-2052, ZQ-90017"
    " ZQ-90071, BUG-7 BUG-17, PX-3301 PX-3310, LIFT-404 LIFT-440, R2-D219 R2-D291, MNT-5550"
    " MNT-5505, ops-118 ops-181, CASE-6021 CASE-6012",
    "file": "plan_v3.pdf plan_v2.pdf, attic-2024.dwg attic-2042.dwg, notes.txt notes.tex,"
    " stairs_final.png stairs_final2.png, budget.q3.xlsx budget.q4.xlsx, keys.json keys.jsonl,"
    " wiring_map.svg wiring_map.csv, README.cellar.md README.celler.md",
    "url": "https://tram.example.org/line/7 https://tram.example.org/line/71,"
    " https://pool.example.com/hours?day=3 https://pool.example.com/hours?day=8,"
    " http://192.0.2.44:8080/status http://192.0.2.41:8080/status,"
    " https://choir.example.net/a/b-12 https://choir.example.net/a/b-21,"
    " https://wiki.example.org/Roof_Repair https://wiki.example.org/Roof_Repairs,"
    " https://docs.example.com/v2/intro#setup https://docs.example.com/v1/intro#setup",
    "mail": "keys@house.example.org key@house.example.org, l.marsh@example.net l.march@example.net,"
    " desk+night@example.com desk+day@example.com, tuba_22@band.example.org"
    " tuba_23@band.example.org, o.brien-k@example.org o.brien-j@example.org, post@nomad.example"
    " past@nomad.example",
    "path": "/srv/photos/1998/lake /srv/photos/1989/lake, /etc/heating/zones.conf"
    " /etc/heating/zone.conf, ~/attic/boxes/b7 ~/attic/boxes/b1, /var/log/lift/door-2.log"
    " /var/log/lift/door-3.log, /home/ruth/maps/old /home/ruth/maps/odd,"
    " /opt/stairs/bin/climb /opt/stairs/bin/climbs",
    "version": "v2.14.0 v2.41.0, 1.0.0-rc.3 1.0.0-rc.2, 2024.11.2 2024.11.12, v0.9.18b v0.9.81b,"
    " 7.3.1+build.55 7.3.1+build.56, 10.4.22 10.4.2",
    "phone": "+44-1632-960123 +44-1632-960132, 555-0142 555-0124, +1-202-555-0178"
    " +1-202-555-0187, 01632/960999 01632/960998, +61-1900-654-321 +61-1900-654-312, 555-0199"
    " 555-0191",
}
_QUERIES = ("{v}", "what was said about {v}?", "find {v}", "{v} again, what was it")


def _made() -> list[Identifier]:
    found: list[Identifier] = []
    for kind, pairs in _PAIRS.items():
        for pair in pairs.split(", "):
            word, near = pair.split()
            query = _QUERIES[len(found) % len(_QUERIES)].format(v=word)
            found.append(Identifier(kind, word, near, query))
    return found


IDENTIFIERS = tuple(_made())
