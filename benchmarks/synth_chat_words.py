"""Words of the chat shape: what people tell, ask and chatter about. Our own, nothing quoted.

{W}/{w} is "My"/"my" or "Ines's"; {I} is "I" or "Ines"; {v} a value; {q} the name asked about; {p}
and {o} people; {d} a weekday; {m} a month; {n} a number; {t} a topic.
"""

from dataclasses import dataclass

SPEAKERS = "Mara Joris Amina Tobias Leonie Pavel Ruth Idris Selma Hugo".split()
PEOPLE = (
    "Ines Viktor Noor Bastian Greta Milo Farah Otto Lucia Henrik Zofia Emre Clara Ravi Astrid"
    " Dario Wanda Kofi Bruna Stellan"
).split()


@dataclass(frozen=True, slots=True)
class Attribute:
    """Something that people have one of. `said` state it, `ask` and `whose` ask for it, `chat`
    speaks of such things and states nothing."""

    topic: str
    said: tuple[str, ...]
    ask: str
    whose: str
    values: tuple[str, ...]
    chat: tuple[str, ...]


def _attribute(topic: str, said: str, ask: str, whose: str, values: str, chat: str) -> Attribute:
    return Attribute(
        topic,
        tuple(said.split(" | ")),
        ask,
        whose,
        tuple(values.split(", ")),
        tuple(chat.split(" | ")),
    )


ATTRIBUTES = (
    _attribute(
        "dog",
        "{W} dog is called {v}. | The vet wrote {v} on the card of {w} dog. | {W} new dog goes by "
        "{v}.",
        "What is the name of {q} dog?",
        "Whose dog is called {v}?",
        "Biscuit, Pepper, Waffle, Juno, Moss, Truffle, Banjo, Olive, Rascal, Pickle, Sable, Domino,"
        " Nutmeg, Bramble, Clover, Fudge, Gizmo, Hazel, Inka, Jasper, Kiwi, Loki",
        "{p} walked the dog before breakfast. | A dog barked at {p} again near the station. |"
        " Does {p} still want a second dog? | The dog show is on {d}, {o} might go. |"
        " A dog can smell rain, {p} says.",
    ),
    _attribute(
        "boat",
        "{W} boat is called {v}. | They painted {v} on the stern of {w} boat. | {v} is what it says"
        " on {w} boat.",
        "What is the name of {q} boat?",
        "Whose boat is called {v}?",
        "Nomad, Vagabond, Petrel, Sirocco, Halcyon, Marlin, Osprey, Tempest, Corsair, Driftwood,"
        " Albatross, Windrush, Kestrel, Meridian, Seafarer, Zephyr, Puffin, Argonaut, Calypso, "
        "Dorado",
        "{p} scraped the boat all {d}. | The boat trip in {m} was cancelled, says {p}. |"
        " Is {o} coming on the boat with {p}? | A boat that size costs {n} a month to moor. |"
        " {p} gets sick on any boat.",
    ),
    _attribute(
        "street",
        "{W} new address is on {v}. | {W} flat is on {v} now. | The movers bring it all to {v}, to"
        " {w} place.",
        "Which street is {q} flat on?",
        "Who lives on {v}?",
        "Juniper Lane, Mill Road, Harbour Street, Tanner Row, Orchard Close, Fountain Square,"
        " Ropewalk, Granary Street, Quarry Hill, Lantern Alley, Weaver Street, Abbey Walk, Dyer "
        "Lane,"
        " Pilgrim Street, Saddler Row, Cooper Street, Heron Quay, Bishop Gate",
        "The street was closed on {d}, {p} came late. | {p} cannot find parking in that street. |"
        " Was the street party {p} spoke of in {m}? | They are digging up the street again. |"
        " {o} moved flats {n} times in a year.",
    ),
    _attribute(
        "employer",
        "{W} new employer is {v}. | {v} gave {w} team a corner office. | {W} contract with {v} "
        "starts"
        " on Monday.",
        "Which company is {q} employer?",
        "Who works for {v}?",
        "Northgate Optics, Lumen Foods, Arbor Rail, Quill and Sons, Castell Paper, Delta Looms,"
        " Ember Glass, Fjord Tools, Gannet Air, Holm Ceramics, Isar Pumps, Jura Clocks, Kelp Works,"
        " Larch Insurance, Mistral Bikes, Nadir Labs, Opal Print, Pine Logistics",
        "{p} has an interview with an employer in {m}. | Every employer asks for {n} references "
        "now. |"
        " What does {o} think of the company party? | {p} is tired of the company canteen. |"
        " The company sent {p} home early on {d}.",
    ),
    _attribute(
        "instrument",
        "{W} instrument these days is the {v}. | {W} lessons on the {v} are on Thursdays. | {W}"
        " teacher says the {v} suits short fingers.",
        "What is {q} instrument?",
        "Who takes lessons on the {v}?",
        "cello, oboe, bassoon, mandolin, accordion, harp, trombone, clarinet, viola, banjo, zither,"
        " piccolo, tuba, marimba, sitar, dulcimer, bagpipes, theremin",
        "{p} practised until the neighbours knocked. | Is the concert with {p} in {m}? | Music"
        " lessons cost {n} an hour now. | {o} lost the sheet music on {d}. | Every instrument "
        "sounds"
        " sad to {p}.",
    ),
    _attribute(
        "allergy",
        "{W} allergy is to {v}. | The test says {w} allergy comes from {v}. | One bite of {v} and"
        " {w} allergy is back.",
        "What is {q} allergy to?",
        "Who has an allergy to {v}?",
        "hazelnuts, celery, kiwi fruit, mustard, lupin, sesame, peaches, buckwheat, shellfish, dust"
        " mites, penicillin, nickel, birch pollen, walnuts, latex, soy, strawberries, cat hair",
        "{p} carries the allergy pills everywhere. | Allergy season starts in {m}, {o} fears. | Did"
        " {p} see the allergy doctor on {d}? | The allergy clinic has {n} people waiting. | No "
        "allergy"
        " ever stopped {p} from dessert.",
    ),
    _attribute(
        "car",
        "{W} car is a {v}. | {W} car, the {v}, failed its inspection. | They towed {w} {v} from the"
        " car park.",
        "What make is {q} car?",
        "Who drives a {v} car?",
        "red Lada, blue Saab, grey Skoda, green Lancia, white Volvo, black Opel, yellow Fiat, "
        "silver"
        " Mazda, brown Rover, orange Dacia, beige Peugeot, purple Seat, maroon Honda, teal Subaru,"
        " golden Kia, pink Suzuki",
        "{p} washed the car twice on {d}. | The car park charges {n} now. | Is {o} selling the car"
        " before {m}? | {p} will not drive a car in snow. | A car alarm kept {p} awake.",
    ),
    _attribute(
        "birthday",
        "{W} birthday is on {v}. | We bake for {w} birthday every {v}. | {W} passport gives {v} as"
        " the birthday.",
        "When is {q} birthday?",
        "Whose birthday is on {v}?",
        "3 February, 11 April, 29 May, 17 June, 8 July, 22 August, 14 September, 30 October, 5"
        " November, 19 December, 26 January, 9 March, 2 May, 13 August, 24 June, 6 October, 28"
        " November, 16 March",
        "{p} hates a birthday with candles. | Whose turn is the birthday cake, asks {o}? | The"
        " birthday party in {m} had {n} guests. | {p} forgot a birthday again. | We sang for a"
        " birthday at the office on {d}.",
    ),
    _attribute(
        "school",
        "{W} old school is {v}. | {v} is where {w} school years went. | {W} school reunion is at "
        "{v}.",
        "Which school did {q} school years go to?",
        "Whose old school is {v}?",
        "Saint Brannoc, Elmfield, Westmere, Ashby Grammar, Rosenthal, Priory Park, Kingsmoor,"
        " Linden Hall, Oakridge, Fairholt, Stonebridge, Hollins, Thornbury, Marlowe House, Redgate,"
        " Dunmore",
        "School starts again in {m}, {p} sighs. | The school bus was late on {d}. | Did {o} skip"
        " school as much as {p}? | {p} coaches at a school. | The school needs {n} new chairs.",
    ),
    _attribute(
        "doctor",
        "{W} doctor is {v}. | {v} took over {w} file as doctor. | {W} doctor, {v}, retires soon.",
        "What is the name of {q} doctor?",
        "Whose doctor is {v}?",
        "Dr Abara, Dr Lindqvist, Dr Moreau, Dr Castellan, Dr Okafor, Dr Petrescu, Dr Yilmaz, Dr"
        " Haugen, Dr Santos, Dr Weiss, Dr Novak, Dr Farrell, Dr Ito, Dr Bianchi, Dr Kovacs, Dr "
        "Reyes",
        "{p} waited {n} minutes at the doctor. | The doctor told {o} to rest until {m}. | Is the"
        " doctor open on {d}? | {p} will not see a doctor for a cough. | A doctor on the train"
        " helped {p}.",
    ),
    _attribute(
        "plant",
        "{W} favourite plant is the {v}. | The {v} is the only plant of {w} that blooms. | {W}"
        " windowsill plant, a {v}, is taller than the cat.",
        "Which plant is {q} favourite?",
        "Whose favourite plant is the {v}?",
        "fern, aloe, begonia, orchid, cactus, monstera, jasmine, fuchsia, peony, camellia, "
        "hibiscus,"
        " geranium, dahlia, lavender, rosemary, magnolia, gardenia, bonsai",
        "{p} overwatered every plant in {m}. | A plant fell on {p} on {d}. | Does {o} talk to "
        "plants"
        " too? | The plant shop wants {n} for a pot. | {p} waters plants at night.",
    ),
    _attribute(
        "shift",
        "{W} shift begins at {v}. | They moved {w} shift to {v}. | From now on {w} shift is the {v}"
        " one.",
        "What time does {q} shift begin?",
        "Whose shift begins at {v}?",
        "5:40, 6:15, 7:25, 9:50, 11:35, 13:05, 14:45, 16:20, 18:10, 20:55, 22:30, 23:15, 4:05, "
        "12:25,"
        " 15:35, 17:50",
        "{p} slept through a shift in {m}. | Who covers the shift on {d}, {o} asks? | A shift of "
        "{n}"
        " hours is too long. | {p} traded a shift for cake. | The night shift makes {p} grumpy.",
    ),
    _attribute(
        "team",
        "{W} football team is {v}. | {v} is the team of {w} heart. | {W} scarf says {v}, the only "
        "team"
        " in the house.",
        "Which football team is {q} team?",
        "Whose football team is {v}?",
        "Rovers, Athletic, Wanderers, Dynamo, Harriers, Rangers, Corinthians, Albion, Thistle,"
        " Celtic Vale, Spartak, Lokomotiv, Villa, Borough, Hotspur, Arsenal North",
        "The team lost again, {p} sulks. | Is the team bus late on {d}? | {o} paid {n} for team"
        " tickets. | Football is over until {m}, says {p}. | {p} fell asleep at the football.",
    ),
    _attribute(
        "dish",
        "{W} signature dish is {v}. | {W} guests ask for {v}, a dish for feasts. | The dish of {w}"
        " childhood is {v}.",
        "What is {q} signature dish?",
        "Whose signature dish is {v}?",
        "goulash, moussaka, risotto, pierogi, tagine, laksa, ratatouille, paella, borscht, ceviche,"
        " katsu curry, jollof, gnocchi, pho, bibimbap, shakshuka, coq au vin, fondue",
        "{p} burnt a dish on {d}. | Every dish at the market costs {n}. | Would {o} share the dish"
        " with {p}? | {p} cooks one dish a week in {m}. | The dish was cold when {p} came.",
    ),
    _attribute(
        "language course",
        "{W} language course is in {v}. | {W} homework for the {v} course piles up. | {v} is the"
        " course on {w} evening plan.",
        "Which language is {q} course in?",
        "Who takes the {v} course?",
        "Finnish, Basque, Swahili, Hungarian, Welsh, Estonian, Tagalog, Icelandic, Catalan, "
        "Georgian,"
        " Maltese, Latvian, Breton, Armenian, Farsi, Quechua",
        "The course was full in {m}, {p} found. | A language needs {n} hours, says {o}. | Is the"
        " course on {d} cancelled? | {p} mixes up every language. | {p} dropped a course again.",
    ),
    _attribute(
        "gate code",
        "{W} gate code is {v}. | Type {v} for the code at {w} gate. | They changed {w} gate code to"
        " {v}.",
        "What is {q} gate code?",
        "Whose gate code is {v}?",
        "4471, 9032, 1187, 6605, 2749, 8813, 3396, 7528, 5164, 4080, 9917, 1253, 6842, 2378, "
        "8459, 3701",
        "The gate was open all {d}. | {p} forgot a code with {n} digits. | Did {o} paint the gate "
        "in"
        " {m}? | The gate squeaks, {p} complains. | A code written on the wall is no code, says "
        "{p}.",
    ),
    _attribute(
        "landlord",
        "{W} landlord is {v}. | {v} sent the bill as {w} landlord. | {W} landlord, {v}, fixed the"
        " boiler.",
        "Who is {q} landlord?",
        "Whose landlord is {v}?",
        "Mr Adeyemi, Mrs Brandt, Mr Carrow, Mrs Delacroix, Mr Endo, Mrs Falk, Mr Grimaldi, Mrs "
        "Horvat,"
        " Mr Ilves, Mrs Jansen, Mr Kessler, Mrs Laurent, Mr Mbeki, Mrs Nilsen, Mr Orlov, Mrs Pires",
        "{p} argued with a landlord on {d}. | The landlord wants {n} more. | Has {o} met the"
        " landlord? | No landlord repairs anything before {m}. | A landlord is not a friend, says "
        "{p}.",
    ),
    _attribute(
        "bicycle",
        "{W} bicycle is a {v}. | {W} stolen bicycle was a {v}. | They fitted {w} bicycle, the {v},"
        " with new brakes.",
        "What kind is {q} bicycle?",
        "Whose bicycle is a {v}?",
        "folding Brevo, steel Tarrant, Larkin tandem, carbon Voss, Hallam roadster, Dutch Zwaan,"
        " Perrin racer, cargo Otso, Minsk fixie, Calder tourer, Brill recumbent, Sorrel gravel "
        "bike,"
        " Aske commuter, Nyland trekker",
        "{p} fell off a bicycle on {d}. | The bicycle path floods in {m}. | Did {o} lend {p} a"
        " bicycle? | A bicycle lock for {n} is a joke. | {p} repairs every bicycle in the house.",
    ),
    _attribute(
        "aunt",
        "{W} aunt lives in {v}. | We sent the parcel to {v}, to {w} aunt. | {W} aunt wrote from "
        "{v},"
        " her home.",
        "Where does {q} aunt live?",
        "Whose aunt lives in {v}?",
        "Tromsø, Bergamo, Cork, Girona, Lublin, Graz, Tartu, Izmir, Nantes, Braga, Ghent, Malmö,"
        " Split, Bilbao, Kaunas, Umeå, Pécs, Aarhus",
        "An aunt rang {p} {n} times on {d}. | Is an aunt coming in {m}? | {o} has a loud aunt. | An"
        " aunt taught {p} to knit. | {p} writes to an aunt every week.",
    ),
    _attribute(
        "password hint",
        "{W} password hint is {v}. | The hint for {w} password reads {v}. | {W} laptop shows the "
        "hint"
        " {v}.",
        "What is {q} password hint?",
        "Whose password hint is {v}?",
        "seven herons, blue ladder, winter plum, quiet anvil, paper moon, stone lemon, iron "
        "feather,"
        " last tram, glass owl, salt bridge, amber door, hollow drum, velvet nail, copper leaf",
        "{p} reset a password {n} times in {m}. | The password expired on {d}. | Does {o} reuse a"
        " password? | A hint that helps nobody, {p} says. | {p} wrote a password on a napkin.",
    ),
)

# A statement, and a question that shares no telling word with it.
PARAPHRASES = (
    ("{I} swore off steak and sausages for good.", "Is {q} a vegetarian?"),
    ("{I} collected the keys to two rooms above the bakery.", "Where did {q} buy a home?"),
    (
        "{I} came out of surgery on the left knee without a hitch.",
        "Which joint got operated for {q}?",
    ),
    ("{I} wept over the closing chapter of the lighthouse story.", "Which novel made {q} cry?"),
    ("{I} landed the post of night baker at the mill.", "What job does {q} have?"),
    ("{I} passed out at the sight of the needle.", "What is {q} afraid of?"),
    ("{I} swapped the petrol hatchback for a plug-in one.", "Does {q} drive an electric vehicle?"),
    ("{I} tied the knot in a vineyard by the river.", "Where was the wedding of {q}?"),
    ("{I} broke out in hives after two shrimps.", "Which seafood makes {q} ill?"),
    ("{I} won bronze in the hundred-metre butterfly.", "How good is {q} at swimming?"),
    ("{I} hauled the telescope uphill to watch Saturn.", "Does {q} enjoy astronomy?"),
    ("{I} came down with measles in the middle of the exams.", "What illness did {q} catch?"),
    ("{I} brought twin girls home from the maternity ward.", "How many children does {q} have?"),
    ("{I} lost a suitcase between two connecting flights.", "What happened to the luggage of {q}?"),
    ("{I} owed the bank nine thousand after the roof was redone.", "How large is the debt of {q}?"),
    ("{I} slept under canvas for a week beside a glacier.", "Where did {q} go camping?"),
    ("{I} threw forty bowls on the wheel in the shed.", "Is {q} into pottery?"),
    (
        "{I} rang the fire brigade when the chip pan went up.",
        "Was there a blaze at the place of {q}?",
    ),
    ("{I} quit cigarettes the day the twins were born.", "When did {q} stop smoking?"),
    ("{I} got the sack for sleeping at the till.", "Why was {q} dismissed from the shop?"),
)

# What happened on a day: told that day, asked for by its date.
EVENTS = (
    ("bought a copper kettle", "buy"), ("sold the old piano", "sell"),
    ("planted a pear tree", "plant"), ("broke a wrist", "break"), ("adopted a tortoise", "adopt"),
    ("started a job at the pool", "start"), ("moved out of the cellar", "move out of"),
    ("found a silver ring", "find"), ("lost a glove on the tram", "lose"),
    ("painted the fence green", "paint"), ("baked nine loaves", "bake"),
    ("fixed the church organ", "fix"), ("cut off the long hair", "cut off"),
    ("met a famous juggler", "meet"), ("won a raffle basket", "win"),
    ("returned the borrowed tent", "return"), ("joined a rowing club", "join"),
    ("wrote a letter to the mayor", "write"),
)  # fmt: skip

# Places that someone went to, a different verb each: a list over many sessions.
LISTS = (
    ("Which cities has {q} visited?", "Lisbon, Vienna, Tallinn, Seville, Bruges, Trieste, Bergen",
     ("I spent the weekend in {v}.", "Just back from {v}, my feet hurt.", "{v} was all fog and "
      "stairs.",
      "We took the night train to {v}.", "My trip to {v} was cheap.", "I walked all over {v}.",
      "Five days in {v} and not one photo.")),
    ("Which books has {q} read?", "The Tin Orchard, Salt Hours, A Map of Moths, Nine Winters,"
     " The Glass Ferry, Owl Country, Rain Ledger",
     ("I finished {v} last night.", "{v} kept me up till two.", "My verdict on {v}: too long.",
      "I read {v} on the bus.", "I could not put {v} down.", "The last page of {v} is the best.",
      "I got through {v} in a day.")),
    ("What has {q} cooked for the choir?", "lentil soup, plum cake, stuffed peppers, dumplings,"
     " onion tart, bean stew, rice pudding",
     ("I made {v} for the choir.", "The choir ate all my {v}.", "Cooked {v} for twenty singers.",
      "My {v} went down well at rehearsal.", "I brought {v} to the choir.", "{v} again for the "
      "choir.",
      "The tenors wanted my {v} twice.")),
    ("Which sports has {q} tried?", "fencing, curling, judo, archery, squash, rowing, bouldering",
     ("I tried {v} and hurt my back.", "First lesson of {v} today.", "{v} is not for me.",
      "I gave {v} a go with the lads.", "They let me try {v} for free.", "An hour of {v}, never "
      "again.",
      "I signed up for a taste of {v}.")),
)  # fmt: skip

ADVICE = (
    ("For {p} I would take the {v} ferry.", "Which ferry did the assistant recommend for {p}?",
     "7:40, 9:15, 11:05, 13:30, 15:45, 18:20"),
    ("My pick for the trip of {p} is the {v} hostel.", "Which hostel did the assistant suggest "
     "for {p}?",
     "Red Anchor, Old Granary, Blue Stair, Three Larks, Clock House, Green Gable"),
    ("I suggest that {p} reads {v} first.", "What did the assistant tell {p} to read first?",
     "chapter nine, the appendix, the preface, the second letter, the glossary, the footnotes"),
    ("I calculated that {p} owes {v} for the heating.", "How much did the assistant say {p} owes "
     "for"
     " the heating?", "212 crowns, 87 crowns, 145 crowns, 390 crowns, 64 crowns, 271 crowns"),
)  # fmt: skip

REPLIES = ("It is {v}, since you ask.", "{v}. Everyone laughs.", "{v}, of all things.", "Oh, {v}.")

VOCATIVES = (
    "Wow, {o}! That {t} business sounds like a lot.", "Nice one, {o}, tell me more about the {t}!",
    "Ha, {o}, you and your {t}!", "{o}, I had no idea you cared about a {t}.",
    "Good for you, {o}! A {t} is a fine thing.", "Oh {o}, not the {t} again!",
    "{o}, you should write the {t} story down.", "Come on, {o}, everybody has a {t}.",
    "Thanks, {o}! I will think of you and the {t}.", "{o}, I am jealous of the {t}, honestly.",
)  # fmt: skip

# Filler about anything: t is the topic of an attribute, so it shares words with what is asked.
CHATTER = (
    "{p} asked about the {t} again.", "I keep forgetting what {p} said about the {t}.",
    "Somebody should tell {p} about the {t}.", "The {t} can wait until {d}.",
    "In {m} it was all about a {t} with {p}.", "No news of the {t}, I am afraid.",
    "{p} and {o} talked about a {t} for {n} minutes.", "What do you make of the {t} of {p}?",
    "If {p} mentions the {t} once more I will scream.", "We never did settle the {t}.",
    "Is the {t} still on for {d}?", "I dreamt of a {t} with {n} legs.",
    "{p} has a theory about the {t}.", "Everyone at work has a {t} now.",
    "The {t} reminds me of {o}.", "You would not believe the {t} stories {p} tells.",
    "My cousin wrote a song about a {t}.", "Let us not fight about the {t}.",
    "{p} will bring up the {t} on {d}, mark my words.", "How is {p} these days?",
    "It rained all {d}.", "I slept {n} hours.", "Did you see the moon on {d}?",
    "{p} sends greetings.", "The tram broke down in {m}, remember?", "I am out of coffee.",
    "{o} says hello to {p}.", "We should meet on {d}.", "That is what {p} always says.",
    "You are probably right.", "Let me think about it until {d}.", "I do not know, ask {p}.",
    "My phone has {n} percent left.", "The neighbours had a party on {d}.",
    "I miss the summer, {m} was the best.", "It cost {n}, can you imagine?",
    "{p} was late by {n} minutes.", "Sorry, I was on the other line.", "What time is it there?",
    "Have you eaten?", "I had soup.", "The lift is broken again.", "{o} is learning to drive.",
    "I saw {p} on {d} and we did not talk long.", "Is {o} still cross?",
    "There was a queue of {n} people.", "I will be away in {m}.", "So much for my plans.",
    "You sound tired.", "Long day, short night.", "{p} laughed about it.",
    "The news was on, nothing new.", "Do you want the recipe?", "I burnt my tongue.",
    "A parcel came for {p} on {d}.", "The bill says {n}, that cannot be right.",
    "I found {n} coins in a coat.", "The park was empty in {m}.", "{o} owes me a call.",
    "Can you believe it is {d} already?", "I have to run, talk later.", "Same here.",
    "That made me smile.", "Not again!", "Tell {p} I am sorry.", "I wrote it on the fridge.",
    "The cat knocked the vase over.", "We lost power for {n} minutes on {d}.",
    "It is my turn to choose the film.", "{p} snores, says {o}.",
    "There is a draught from somewhere.", "{p} wants the ladder back by {d}.",
    "I counted {n} pigeons on the roof.", "We ran out of stamps in {m}.",
    "Nobody told {o} that {p} was coming.", "The radio plays the same {n} songs.",
    "I promised {p} to be on time on {d}.", "The stairs smell of paint.",
)  # fmt: skip

ASSISTANT = (
    "I have noted that.", "Here is a short list, shall I go on?", "Shall I remind you on {d}?",
    "I could look up what {p} said about the {t}.", "That was in {m}, if I remember it right.",
    "I would wait until {d}.", "There are {n} messages about the {t}.",
    "I do not know what {p} would say.", "Would you like me to write to {p}?",
    "The {t} is on the list for {d}.", "You mentioned {p} and a {t} in {m}.",
    "Noted, I will keep it short.", "I can plan the {t} around {o}.", "That sounds sensible.",
)  # fmt: skip

TAILS = (
    "", "", "", " Anyway.", " Well, that is {d} for you.", " So much for {m}.", " Typical.",
    " {o} thinks so too.", " I will know more on {d}.", " Do not tell {p}.", " Or so I hear.",
    " That makes {n} this year.",
)  # fmt: skip
