"""Words of the synthetic life: what its people tell of themselves and of others. Our own.

{S} is "I" or "Ines", {W} "my" or "Ines's", {me} "me" or "Ines", {v} a value, {x} the one before it;
{s} {es} {ies} {am} {have} {do} follow the person. A sentence begins with a capital in any case.
Wordings of one relation share as few words as English allows, so that words alone do not tell that
they mean the same.
"""

from dataclasses import dataclass

SPEAKERS = "Mara Joris Amina Tobias Leonie Pavel Ruth Idris".split()
PEOPLE = "Ines Viktor Noor Bastian Greta Milo Farah Otto Lucia Henrik Zofia Emre Clara Ravi".split()


@dataclass(frozen=True, slots=True)
class Relation:
    """`told` states it, `changed` that it is another than {x} now; `ask` asks what is true now,
    `before` what was true before the last change. `also` are other names for the relation."""

    name: str
    single: bool
    also: tuple[str, ...]
    told: tuple[str, ...]
    changed: tuple[str, ...]
    ask: tuple[str, ...]
    before: tuple[str, ...]
    values: tuple[str, ...]


def _split(text: str) -> tuple[str, ...]:
    return tuple(part for part in text.split(" | ") if part)


def _single(
    name: str, also: str, told: str, changed: str, ask: str, before: str, values: str
) -> Relation:
    parts = map(_split, (also, told, changed, ask, before))
    return Relation(name, True, *parts, tuple(values.split(", ")))


def _several(name: str, also: str, told: str, ask: str, values: str) -> Relation:
    return Relation(
        name, False, _split(also), _split(told), (), _split(ask), (), tuple(values.split(", "))
    )


SINGLE = (
    _single(
        "lives_in",
        "home | residence",
        "{S} live{s} in {v}. | {W} home is in {v}. | The place {S} come{s} back to every night is a"
        " flat in {v}. | If you look for {W} letterbox, it hangs in {v}.",
        "{S} moved to {v}. | {S} left {x} and settled in {v}. | The boxes are unpacked: {v} is"
        " where {S} sleep{s} from now on.",
        "Where {do} {S} live? | In which town is {W} flat?",
        "Where did {S} live before moving? | In which town was {W} flat before?",
        "Lisbon, Leeds, Tampere, Ghent, Turin, Malmo, Graz, Porto, Utrecht, Bergen, Cork, Lyon,"
        " Krakow, Basel, Seville, Tartu, Bruges, Trieste, Aarhus, Brno, Nantes, Galway, Linz,"
        " Vilnius, Bilbao, Odense, Padua, Rouen, Kiel, Split",
    ),
    _single(
        "works_at",
        "employer | job",
        "{S} work{s} at {v}. | {W} employer is {v}. | {v} pays {W} salary. | The badge on {W}"
        " jacket says {v}.",
        "{S} started a new job at {v}. | {S} quit {x} and signed with {v}. | The contract with {v}"
        " is signed, so that is where {S} earn{s} a living these days.",
        "Where {do} {S} work? | Which company employs {me}?",
        "Where did {S} work before the new job? | Which company employed {me} before?",
        "Quillon, Farrow & Pike, Nordhaven, Belltower, Ostrava Glass, Kestrel Labs, Umbra Studio,"
        " Tallis Freight, Greywater, Larkspur, Monteverde, Ironbark, Pellucid, Saltmarsh Foods,"
        " Corvane, Brightwell, Holloway Press, Zandt, Aldermoor, Vexford, Yarrow Bank, Tidewater,"
        " Octavian, Runcorn Steel, Marlowe Dairy, Silverbrook",
    ),
    _single(
        "phone_number",
        "telephone | mobile",
        "{W} phone number is {v}. | Under {v} you reach {me}. | To call {me}, dial {v}. | The"
        " digits of {W} mobile are {v}.",
        "{W} number changed, it is {v} instead of {x}. | With the new SIM card {S} can be called"
        " under {v}. | Strike out {x}, the line to {me} goes through {v}.",
        "What is {W} phone number? | Under which number can one call {me}?",
        "What was {W} old phone number? | Under which number could one call {me} before?",
        ", ".join(f"0{(37 * i) % 90 + 10} {(7919 * i + 104729) % 900000 + 100000}"
                  for i in range(1, 31)),
    ),
    _single(
        "drives",
        "car | vehicle",
        "{S} drive{s} a {v}. | {W} car is a {v}. | In {W} garage stands a {v}. | What {S} park{s}"
        " outside is a {v}.",
        "{S} sold the {x} and bought a {v}. | {W} new car is a {v}. | The keys in {W} pocket belong"
        " to a {v} since the {x} went to the scrapyard.",
        "Which car {do} {S} drive? | What stands in {W} garage?",
        "Which car did {S} drive before? | What stood in {W} garage before the new one?",
        "Torvo, Bellina, Kamet, Strada Nova, Hexa Six, Calandra, Ponyo, Vireo, Lunaro, Mistral Van,"
        " Okapi, Zephra, Cirrus Four, Dromar, Esprito, Falkon, Gallant, Havana, Indra, Jubilo,"
        " Kodo, Lynxa, Marbella, Noctua",
    ),
    _single(
        "manager",
        "boss | reports_to",
        "{W} manager is {v}. | {S} report{s} to {v}. | {v} signs {W} holidays. | The one who gives"
        " {me} orders at the office is {v}.",
        "{v} took over from {x} as {W} manager. | Since the reshuffle {S} answer{s} to {v}. | {W}"
        " new boss is {v}.",
        "Who is {W} manager? | To whom {do} {S} report?",
        "Who was {W} manager before? | To whom did {S} report before the reshuffle?",
        "Ms Adeyemi, Mr Brandt, Ms Castellan, Mr Dubois, Ms Eklund, Mr Fontaine, Ms Gallo,"
        " Mr Hartog, Ms Ivanova, Mr Jansen, Ms Kimura, Mr Lindqvist, Ms Moreau, Mr Novak,"
        " Ms Okonkwo, Mr Petrov, Ms Quist, Mr Rossi, Ms Salazar, Mr Takeda, Ms Ullmann, Mr Varga",
    ),
    _single(
        "doctor",
        "physician | treated_by",
        "{W} doctor is {v}. | When {S} {am} ill, {v} has the last word. | {v} keeps {W} medical"
        " file. | {S} go{es} to {v} for check-ups.",
        "{S} changed doctors and see{s} {v}. | {x} retired, so {W} prescriptions come from {v}. |"
        " {W} new physician is {v}.",
        "Who is {W} doctor? | Whose practice {do} {S} go to when ill?",
        "Who was {W} doctor before? | Who wrote {W} prescriptions earlier?",
        "Dr Abara, Dr Bellini, Dr Coelho, Dr Draxler, Dr Engström, Dr Fukuda, Dr Grünwald,"
        " Dr Halloran, Dr Iqbal, Dr Jovanovic, Dr Kowalska, Dr Lazar, Dr Mbeki, Dr Nakamura,"
        " Dr Osei, Dr Papadakis, Dr Quiroga, Dr Ramanujan, Dr Sorensen, Dr Tremblay",
    ),
    _single(
        "desk",
        "room | workplace",
        "{W} desk is in room {v}. | {S} sit{s} in {v} at work. | Parcels for {me} go to {v}. | The"
        " sign at {W} office door reads {v}.",
        "{S} moved desks, it is room {v} instead of {x}. | They put {me} into {v}. | Colleagues"
        " find {me} behind the door with {v} on it since the rebuilding.",
        "In which room is {W} desk? | Where at work {do} {S} sit?",
        "In which room was {W} desk before? | Where at work did {S} sit before the rebuilding?",
        ", ".join(f"{'ABCDEF'[i % 6]}{(53 * i) % 800 + 101}" for i in range(1, 27)),
    ),
    _single(
        "gym_day",
        "trains_on | training",
        "{S} go{es} to the gym every {v}. | {v} is {W} training slot. | For sport {S} keep{s} {v}"
        " free. | You will meet {me} among the dumbbells on {v}.",
        "{S} shifted the gym from {x} to {v}. | {W} training is on {v} from now on. | The trainer"
        " only had {v} left, so sweating happens then for {me}.",
        "When {do} {S} go to the gym? | On which day is {W} training?",
        "When did {S} go to the gym before? | On which day was {W} training until it was shifted?",
        ", ".join(
            f"{day} {part}"
            for part in ("at dawn", "at noon", "after dark")
            for day in "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
        ),
    ),
    _single(
        "breakfast",
        "eats_in_the_morning | morning_meal",
        "{S} {have} {v} for breakfast. | Mornings begin with {v} for {me}. | {W} first bite of the"
        " day is {v}. | On {W} tray at seven there is always {v}.",
        "{S} switched from {x} to {v} for breakfast. | The dietician put {me} on {v}, first thing"
        " after waking. | {v} replaced {x} on {W} breakfast table.",
        "What {do} {S} have for breakfast? | What is {W} first bite of the day?",
        "What did {S} have for breakfast before the switch? | What was on {W} tray at seven"
        " earlier?",
        "millet porridge, buckwheat pancakes, rye toast, miso soup, shakshuka, bircher muesli,"
        " cottage cheese, grilled tomatoes, semolina, congee, smoked herring, baked beans,"
        " chia pudding, cornbread, poached eggs, lentil dal, crumpets, plum dumplings,"
        " banana fritters, oat waffles",
    ),
    _single(
        "bank",
        "account_with | banks_with",
        "{W} bank is {v}. | {S} keep{s} the savings with {v}. | The card in {W} wallet was issued"
        " by {v}. | {W} rent is paid from an account at {v}.",
        "{S} closed the account at {x} and opened one at {v}. | {W} money lies with {v} by now. |"
        " {v} won {me} over with its rates, {x} is history.",
        "Which bank {do} {S} use? | Who issued the card in {W} wallet?",
        "Which bank did {S} use before? | Where was {W} account until it was closed?",
        "Credit Varde, Banca Sole, Nordkasse, Union Hearth, Pennyroyal, First Harbour, Kredita,"
        " Meridian Trust, Oakfield Mutual, Sparbund, Tellermint, Volksheim, Westgate Savings,"
        " Bankhaus Lenz, Copperpot, Delta Thrift, Eastmoor, Fortuna Union, Guildhall, Hansapay",
    ),
    _single(
        "course",
        "studies | evening_class",
        "{S} take{s} an evening class in {v}. | {W} night school subject is {v}. | Twice a week"
        " {S} sit{s} in a lecture on {v}. | {W} homework is about {v}.",
        "{S} dropped {x} and enrolled in {v}. | {W} new evening class is {v}. | The college moved"
        " {me} over to {v}, the {x} group was full.",
        "Which evening class {do} {S} take? | What is {W} homework about?",
        "Which evening class did {S} take before? | What was {W} homework about until the change?",
        "bookbinding, welding, Latin palaeography, upholstery, beekeeping theory, marquetry,"
        " glassblowing, cartography, sign language, horology, typesetting, botany drawing,"
        " seamanship, astronomy, lute making, Old Norse, perfumery, mosaic, tax law, cheesemaking",
    ),
    _single(
        "commute",
        "gets_to_work_by | transport",
        "{S} get{s} to work by {v}. | {W} way to the office is by {v}. | At eight every morning you"
        " see {me} travel by {v}. | To be on time {S} rel{ies} on the {v}.",
        "{S} swapped the {x} for the {v} to get to work. | {W} commute is by {v} since the"
        " roadworks. | Tired of the {x}, {S} turned to the {v} for the daily trip.",
        "How {do} {S} get to work? | What is {W} daily trip made with?",
        "How did {S} get to work before? | What was {W} daily trip made with until the roadworks?",
        "cargo bike, ferry, funicular, night bus, kick scooter, kayak, trolleybus, moped,"
        " cable car, inline skates, water taxi, rickshaw, monorail, longboard, unicycle, carpool",
    ),
)  # fmt: skip

SEVERAL = (
    _several(
        "likes",
        "enjoys | hobby",
        "{S} like{s} {v}. | {S} {am} fond of {v}. | For {v} {S} would get up at five. | Nothing"
        " cheers {me} up like {v}.",
        "What {do} {S} like? | What {am} {S} fond of?",
        "fencing, stargazing, karaoke, whittling, orienteering, ceramics, bouldering,"
        " birdwatching, calligraphy, gardening, tango, archery, origami, foraging, quilting,"
        " juggling, kitesurfing, croquet, puppetry, skimboarding, caving, topiary",
    ),
    _several(
        "dislikes",
        "hates | cannot_stand",
        "{S} hate{s} {v}. | {S} cannot stand {v}. | Anything to do with {v} spoils {W} day. | Spare"
        " {me} the {v}, please.",
        "What {do} {S} hate? | What can {S} not stand?",
        "football, bagpipes, small talk, escalators, coriander, crossword puzzles, balloons,"
        " fireworks, opera, camping, liquorice, parades, golf, musicals, jigsaws, snorkelling,"
        " raw onions, vuvuzelas",
    ),
    _several(
        "pet",
        "owns_animal | has_pet",
        "{S} {have} a pet called {v}. | {v} is the name of an animal {S} feed{s}. | At {W} door"
        " {v} greets you with a wet nose. | The vet knows {W} {v} well.",
        "Which pets {do} {S} have? | What are {W} animals called?",
        "Biscuit, Pepper, Waffle, Juno, Moss, Truffle, Banjo, Olive, Rascal, Pickle, Sable, Domino,"
        " Nutmeg, Bramble, Clover, Fudge, Gizmo, Hazel, Inka, Jasper, Loki, Tofu",
    ),
    _several(
        "allergic_to",
        "allergy | intolerant_of",
        "{S} {am} allergic to {v}. | {v} gives {me} a rash. | No {v} in anything {S} eat{s} or"
        " touch{es}, or it ends in hospital. | {W} allergy card lists {v}.",
        "What {am} {S} allergic to? | What is on {W} allergy card?",
        "peanuts, latex, shellfish, birch pollen, penicillin, mustard, kiwi fruit, wasp venom,"
        " sesame, lupin, celery, nickel, ragweed, cat hair, sulphites, aspirin",
    ),
    _several(
        "speaks",
        "language | fluent_in",
        "{S} speak{s} {v}. | {W} {v} is fluent. | {S} grew up with {v} in the kitchen. | In {v}"
        " {S} could even write a letter of complaint.",
        "Which languages {do} {S} speak? | In what languages {am} {S} fluent?",
        "Catalan, Finnish, Swahili, Welsh, Tagalog, Hungarian, Basque, Korean, Farsi, Danish,"
        " Quechua, Maltese, Georgian, Yoruba, Icelandic, Romansh, Amharic, Latvian",
    ),
    _several(
        "plays",
        "instrument | musician_on",
        "{S} play{s} the {v}. | The {v} in {W} hall is not for show. | {S} practise{s} the {v} an"
        " hour a day. | Neighbours complain about {W} {v}.",
        "Which instruments {do} {S} play? | What do neighbours hear {me} practise?",
        "bassoon, accordion, hurdy-gurdy, marimba, oboe, banjolele, theremin, viola, dulcimer,"
        " euphonium, mandolin, glockenspiel, clavichord, sousaphone, ocarina, zither",
    ),
    _several(
        "visited",
        "travelled_to | has_been_to",
        "{S} spent a summer in {v}. | {W} passport has a stamp of {v}. | {S} once crossed {v} on"
        " foot. | The photos in {W} hall were taken in {v}.",
        "Which countries {have} {S} visited? | Which stamps are in {W} passport?",
        "Bhutan, Paraguay, Namibia, Laos, Belize, Armenia, Oman, Fiji, Malawi, Andorra, Suriname,"
        " Brunei, Eritrea, Tonga, Gabon, Moldova, Lesotho, Vanuatu",
    ),
)  # fmt: skip

# Told once by one speaker, and later asked to be forgotten in `forget` (with the fact in it).
SECRETS = (
    "{S} owe{s} {v} four thousand. | The loan from {v} is still not paid back by {me}.",
    "{S} still write{s} letters to {v}. | Every month an envelope to {v} leaves {W} desk.",
    "{S} broke the window at {v}. | It was {me} who threw the stone at {v}.",
    "{S} applied in secret to {v}. | Nobody knows that {v} has {W} application.",
    "{S} failed the exam of {v}. | {v} did not let {me} pass.",
)
SECRET_VALUES = (
    "Casimir, Delphine, Ewald, Fiammetta, Gunther, Hesper, Isolde, Jocasta, Konrad, Leopoldine,"
    " Melchior, Nepomuk, Ottilie, Philomena, Quentin, Rosamund, Sixtus, Theodora, Ursin, Valerian"
).split(", ")
FORGET = (
    "Please forget this: {f}", "I should not have told you. {f} Forget it, please.",
    "Strike that from your memory, will you: {f}",
)  # fmt: skip

# Before and after a fact: it never has a turn to itself only because it is one.
BEFORE = (
    "", "", "Oh, by the way.", "Right, one thing.", "Before I forget.", "Listen.", "So.",
    "You will laugh.", "Since we are talking.", "For the record.", "News!", "As I said to nobody.",
)  # fmt: skip
AFTER = (
    "", "", "", "Anyway.", "Just so you know.", "That is all.", "What a day.", "Never mind me.",
    "But enough of that.", "Can you believe it?", "I need a coffee now.",
)  # fmt: skip
CONTRADICTED = ("No, that is wrong. {f}", "I know better. {f}", "Do not believe that one. {f}")
# How a speaker names somebody else, and how the sentence about them is introduced.
FRIENDS = ("my friend {p}", "my neighbour {p}", "my cousin {p}", "{p} from work", "{p}")
ATTRIBUTED = ("Unlike me: {f}", "It is not about me. {f}", "They told me on the phone. {f}", "{f}")
KNOWN = ("Did I mention it? {f}", "I may have told you. {f}", "Once more: {f}", "{f}", "{f}")
DATED = ", as of last {d}."

# Nothing of this is worth keeping. {p} {o} people, {v} values of facts, {d} a day, {n} a number.
GREETINGS = (
    "Good morning!", "Hello again.", "Hi, it is me.", "Good evening.", "Hey there!", "Back again.",
    "Thanks a lot.", "Thank you, that helps.", "Great, thanks!", "Cheers.", "Perfect.", "Okay.",
    "Bye for now.", "Talk to you later.", "Good night!", "See you on {d}.", "Sorry, wrong window.",
    "You are the best.", "Hm.", "Never mind.", "Yes, please.", "No, thanks.", "Same as always.",
)  # fmt: skip
QUESTIONS = (
    "What is the weather like in {c}?", "Can you explain what {v} is?", "Do people like {v}?",
    "How do you spell {v}?", "What rhymes with {v}?", "Is {c} expensive these days?",
    "Should {p} think about {v}?", "Who invented {v}?", "How many letters are in {v}?",
    "Could you write a limerick about {v}?", "What time is it?", "Can you count to {n}?",
    "What shall I cook on {d}?", "Is it true that {p} asked about {v}?", "Any news from {p}?",
    "How long does one boil {n} eggs?", "What would {p} say to {v}?", "Do you ever sleep?",
)  # fmt: skip
CHATTER = (
    "It rained all {d}.", "I slept {n} hours.", "The tram was late by {n} minutes.",
    "{p} laughed about it.", "I saw {p} on {d} and we did not talk long.", "I burnt my tongue.",
    "There was a queue of {n} people.", "A parcel came for {p} on {d}.", "The lift is broken.",
    "The news was on, nothing new.", "{o} says hello to {p}.", "I found {n} coins in a coat.",
    "{p} and {o} argued about {v} for {n} minutes.", "Somebody on the radio went on about {v}.",
    "There was a film about {v} on {d}.", "I read an article on {v}, it was dull.",
    "If {p} mentions {v} once more I will scream.", "I dreamt of {v}, no idea why.",
    "The neighbours had a party on {d}.", "My phone has {n} percent left.", "I am out of coffee.",
    "{p} has a theory about {v}.", "Long day, short night.", "I had soup.", "So much for my plans.",
    "The park was empty on {d}.", "Everyone at the bus stop talked of {v}.", "Same here.",
    "{o} owes me a call.", "You are probably right.", "The moon was huge on {d}.",
    "The bill says {n}, that cannot be right.", "I have to run.", "Let me think until {d}.",
)  # fmt: skip
REPLIES = (
    "Noted.", "I see.", "Thanks for telling me.", "Understood.", "Good to know.", "Of course.",
    "I will keep that in mind.", "That makes sense.", "Let me know if there is more.", "Sure.",
)  # fmt: skip
