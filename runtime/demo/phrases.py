"""The words of the demo's conversation: what Ines says while she turns a lighthouse into a guest
house, and what is answered. Written for pagemind; talk.py fills the blanks.

A blank in a list of its own takes each of its words once, so that no two messages say different
things about one thing. {euros} {cm} {kg} {n} {clock} {day} {past} {code} {phone} are drawn by
the talk.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Phrase:
    """Something said, what is answered, and the blanks that are particular to it."""

    said: str
    reply: str
    blanks: dict[str, tuple[str, ...]] = field(default_factory=dict)


def _each(words: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in words.split(";"))


PHRASES = (
    Phrase(
        "{who} quoted {euros} euros for {job}, and the offer stands until {day}.",
        "A quote from {who} for {job}: {euros} euros, until {day}. Shall I compare it?",
        {
            "who": _each("Marek; Salim; Tomasz; Hedda's brother; Yuki; Brandt & Sons; the roofer"),
            "job": _each(
                "repointing the tower; new copper pipes; rewiring the kitchen; towing the barge;"
                " clearing the brambles; the oak staircase; forty square metres of slate"
            ),
        },
    ),
    Phrase(
        "I measured {place} again: {cm} cm wide, and {n} cm deep at the sill.",
        "{cm} by {n} for {place}, then. I would order with a centimetre to spare.",
        {
            "place": _each(
                "the alcove on the landing; the pantry window; the niche by the stove; the lamp"
                " room hatch; the boathouse door; the box bed; the porthole in the stairwell"
            )
        },
    ),
    Phrase(
        "The spare key for {lock} is tagged {code} and hangs behind the tide table.",
        "Key {code} opens {lock}. Behind the tide table, good.",
        {"lock": _each("the wash house; the generator shed; the attic chest; the flag locker")},
    ),
    Phrase(
        "{guest} wants to stay {n} nights from {day} and asked whether dogs are welcome.",
        "{n} nights for {guest} from {day}. I will note the dog.",
        {
            "guest": _each(
                "Mrs Adeyemi; the Kowalski family; a bird ringer called Fenna; Professor Iversen;"
                " two cyclists from Ghent; Amina from the choir; the painter Laszlo; Mr Okafor"
            )
        },
    ),
    Phrase(
        "{animal} turned up on {past}, about {clock}, right below the gallery. What a sight!",
        "{animal} on {past} at {clock}. That belongs in the guest book.",
        {
            "animal": _each(
                "A grey seal with a pup; A hoopoe; Three porpoises; An otter with an eel; A barn"
                " owl; A basking shark; A flock of knots"
            )
        },
    ),
    Phrase(
        "{what} arrived today, order {code}, {n} pieces, and two of them were chipped.",
        "Order {code}, {what}: {n} pieces, two chipped. I would write to them today.",
        {
            "what": _each(
                "The hexagonal tiles; The brass hinges; The storm lanterns; The enamel mugs; The"
                " window latches; The blue soup bowls"
            )
        },
    ),
    Phrase(
        "Please remember that {person} takes {drink}, and never before {clock}.",
        "{person}: {drink}, not before {clock}. Remembered.",
        {
            "person": _each("Hedda; Tomasz; Priya; Jonas; Marek; my niece Nora; old Mr Tallis"),
            "drink": _each(
                "black coffee with cardamom; mint tea without sugar; hot elderberry; buttermilk;"
                " rooibos with a slice of orange; barley water; a thimble of aquavit"
            ),
        },
    ),
    Phrase(
        "I paid {payee} {euros} euros by transfer, reference {code}.",
        "{euros} euros to {payee}, reference {code}, is in the ledger.",
        {
            "payee": _each(
                "the harbour office; the sawmill in Varde; the chimney sweep; the island council;"
                " the paint shop; the water works; the notary; the glazier"
            )
        },
    ),
    Phrase(
        "The {thing} runs again: it needed {part} and {n} minutes of cursing.",
        "So {part} was all the {thing} wanted. {n} minutes is not bad.",
        {
            "thing": _each(
                "fog bell; generator; cistern pump; weather vane; hand winch; tide clock; old"
                " gramophone; goods lift"
            ),
            "part": _each(
                "a new clapper pin; a clean fuel filter; a leather washer; a drop of whale-free"
                " oil; a split pin; a longer chain; a fresh needle; a fuse of ten amperes"
            ),
        },
    ),
    Phrase(
        "{relative} phoned from {city}; the number there is {phone} until {day}.",
        "{phone} reaches {relative} in {city} until {day}.",
        {
            "relative": _each(
                "Aunt Sabine; My brother Felix; Cousin Renzo; Uncle Bartho; My godmother Ilse"
            ),
            "city": _each("Trieste; Aalborg; Coimbra; Gdynia; Saint-Malo"),
        },
    ),
    Phrase(
        "For {dish} the recipe says {n} grams of {stuff}, but I would halve it.",
        "Half of {n} grams of {stuff} in the {dish}: I agree, it was heavy last time.",
        {
            "dish": _each(
                "seaweed bread; rhubarb chutney; fish soup; rye crackers; nettle pesto; quince"
                " jelly; oat biscuits"
            ),
            "stuff": _each(
                "dulse; brown sugar; fennel seed; caraway; hard cheese; pectin; salted butter"
            ),
        },
    ),
    Phrase(
        "I painted {room} in {colour}, tin number {code}; it took {n} litres.",
        "{room} in {colour}, tin {code}, {n} litres. For touching up, keep the lid.",
        {
            "room": _each(
                "the watch room; the north bedroom; the linen closet; the entrance hall; the"
                " reading corner; the boot room"
            ),
            "colour": _each(
                "oyster grey; a deep teal; chalk white; burnt apricot; moss; harbour blue"
            ),
        },
    ),
    Phrase(
        "The {paper} is in the green folder under {code}, and it runs out on {day}.",
        "{paper}, green folder, {code}, until {day}. I would renew it a month before.",
        {
            "paper": _each(
                "fire certificate; mooring permit; well test; music licence; boiler inspection;"
                " lease of the meadow"
            )
        },
    ),
    Phrase(
        "{friend} lent us {loan}; it has to be back by {day}, with {n} euros for the box.",
        "{loan} goes back to {friend} by {day}, {n} euros with it.",
        {
            "friend": _each("Yuki; Captain Hedda; the verger; Salim; the school; Priya"),
            "loan": _each(
                "a moisture meter; the long ladder; forty folding chairs; a pipe bender; the"
                " overhead projector; a label printer"
            ),
        },
    ),
    Phrase(
        "I dreamt of {dream} again and woke at {clock}. No more cheese in the evening.",
        "{dream} at {clock}! Warm milk, then, and no cheese.",
        {
            "dream": _each(
                "a staircase without end; my old school; a lamp that would not go out; singing"
                " herring; a train under the sea"
            )
        },
    ),
    Phrase(
        "The bed in {room} needs a mattress of {cm} by 200, at most {n} kilos.",
        "A mattress of {cm} by 200 for {room}, no heavier than {n} kilos for the stairs.",
        {"room": _each("the gull room; the lens room; the cook's cabin; the pilot's room")},
    ),
    Phrase(
        "I planted {n} {plant} along {where}; Yuki says to water them at {clock}.",
        "{n} {plant} along {where}, watered at {clock}. They will like the salt less than you.",
        {
            "plant": _each(
                "sea kale; tamarisks; thrift cushions; blackcurrant bushes; leeks; hollyhocks"
            ),
            "where": _each(
                "the south wall; the path to the jetty; the flagpole; the compost; the drying"
                " green; the rain barrels"
            ),
        },
    ),
    Phrase(
        "Wi-Fi in {where} is called {code} now; it carries {n} metres if the door is open.",
        "Network {code} in {where}, {n} metres. I will put it on the card for guests.",
        {"where": _each("the tower; the boathouse; the tea garden; the annex")},
    ),
    Phrase(
        "We sold {n} {goods} at the {market} market and took {euros} euros.",
        "{euros} euros from {n} {goods} at the {market} market. Well done.",
        {
            "goods": _each(
                "jars of chutney; postcards; lavender bags; loaves; knitted buoys; candles"
            ),
            "market": _each("Easter; harbour; Saturday; midsummer; flea; fishermen's"),
        },
    ),
    Phrase(
        "The barometer fell to {hpa} on {past}; at {clock} the gusts took {loss}.",
        "{hpa} on {past}, and {loss} gone at {clock}. I am sorry about that.",
        {
            "hpa": _each("973; 981; 968; 977; 985"),
            "loss": _each(
                "the washing line; two roof tiles; the parasol; a gutter; the letter box"
            ),
        },
    ),
    Phrase(
        "{child} turns {age} on {day} and wishes for {wish}.",
        "{child}, {age} on {day}: {wish}. I will remind you a week before.",
        {
            "child": _each("Nora; Marek's Lena; little Ciaran; Salim's Yusuf; Hedda's Pelle"),
            "age": _each("7; 9; 12; 10; 8"),
            "wish": _each(
                "a telescope; a penknife with a corkscrew; a kite like a ray; a ukulele; a"
                " microscope"
            ),
        },
    ),
    Phrase(
        "The ferry changes: from {day} it leaves {pier} at {clock}, {n} minutes later than now.",
        "From {day} at {clock} from {pier}. I will correct the sheet in the hall.",
        {"pier": _each("Varde; the old quay; Sandholm; the east pier; Kirkeby")},
    ),
    Phrase(
        "I read {book} up to page {n}; {who} recommended it on {past}.",
        "Page {n} of {book}. {who} has good taste.",
        {
            "book": _each(
                "“The Keeper's Almanac”; “Salt and Slate”; “A Year of Fog”; “Knots for the Idle”;"
                " “The Last Pilot”; “Lamps of the North”"
            ),
            "who": _each("Fenna; Priya; the verger; Uncle Bartho; Jonas; Mrs Adeyemi"),
        },
    ),
    Phrase(
        "In {place} I found {find}, with the year {year} scratched into it.",
        "{find} of {year} in {place}: that goes into the glass case.",
        {
            "place": _each(
                "the chimney; the cellar wall; the well; a drawer of the bureau; the lantern"
                " gallery; the hollow step"
            ),
            "find": _each(
                "a pewter spoon; a child's shoe; a bottle with a note; a brass button; a ring of"
                " keys; a clay pipe"
            ),
            "year": _each("1871; 1904; 1838; 1889; 1921; 1856"),
        },
    ),
    Phrase(
        "{who} will come on {day} at {clock} to look at {what}; that costs {n} euros an hour.",
        "{who} on {day}, {clock}, for {what}, {n} euros an hour. It is in the calendar.",
        {
            "who": _each(
                "The piano tuner; The beekeeper; The lift engineer; A stonemason from Varde; The"
                " thatcher; The diver; The clockmaker"
            ),
            "what": _each(
                "the old upright; the swarm in the gable; the cable drum; the doorstep; the"
                " boathouse roof; the mooring chain; the tide clock's spring"
            ),
        },
    ),
    Phrase(
        "Between us: I cannot stand {dislike}, but {who} brings it every time.",
        "Your secret is safe: no {dislike}, whatever {who} says.",
        {
            "dislike": _each("liquorice; smoked eel; accordion music; marzipan; patchouli"),
            "who": _each("Renzo; the verger's wife; Hedda; my neighbour Gus; Aunt Sabine"),
        },
    ),
    Phrase(
        "Priya moved {euros} euros from {from_} to {to}, voucher {code}.",
        "Voucher {code}: {euros} euros from {from_} to {to}.",
        {
            "from_": _each("savings; the roof fund; petty cash; the grant; the deposit account"),
            "to": _each("the kitchen budget; insurance; wages; the heating; paint and brushes"),
        },
    ),
    Phrase(
        "The menu for {day}: {dish}, {n} covers, and {who} cooks.",
        "{dish} for {n} on {day}, {who} cooking. I will write the shopping list.",
        {
            "dish": _each(
                "mussels with leek; beetroot dumplings; saffron rice with hake; lentil pie;"
                " mackerel and gooseberries; barley risotto"
            ),
            "who": _each("Amina; Salim; Jonas; the choir; Nora and I; Laszlo"),
        },
    ),
    Phrase(
        "{dog} weighs {kg} kg now and had her shot on {past}; the chip is {code}.",
        "{dog}: {kg} kg, shot on {past}, chip {code}.",
        {"dog": _each("The dog Plimsoll; The cat Mizzen; The goat Duchess; The hen Marconi")},
    ),
    Phrase(
        "I promised {who} {promise} before {day}. Hold me to it!",
        "{promise} for {who} before {day}. I will.",
        {
            "who": _each("the school; Jonas; the island council; Felix; the lifeboat crew; Ilse"),
            "promise": _each(
                "a tour of the lamp; the drawings of the stairs; an answer about the fence; his"
                " bicycle back; a crate of cider; a long letter"
            ),
        },
    ),
    Phrase(
        "Breaker {n} on the new board is {circuit}; Tomasz sealed it with {code}.",
        "Breaker {n}: {circuit}, seal {code}.",
        {
            "circuit": _each(
                "the oven; the tower lights; the sockets upstairs; the freezer; the pump; the bell"
            )
        },
    ),
    Phrase(
        "At {clock} the radio said {news}. Would that touch us on {day}?",
        "{news}: hardly, but I will look again before {day}.",
        {
            "news": _each(
                "the bridge at Kirkeby closes; diesel goes up again; the herring are late; a"
                " regatta passes the strait; the census begins"
            )
        },
    ),
    Phrase(
        "The insulation in {where} is {n} mm of {material}, batch {code}.",
        "{n} mm of {material}, batch {code}, in {where}.",
        {
            "where": _each("the loft; the lean-to; the wheelhouse; the porch; the bathroom"),
            "material": _each("wood fibre; sheep's wool; cork; hemp; cellulose"),
        },
    ),
    Phrase(
        "{who} owes us {n} hours for {favour}; we agreed on {past}.",
        "{who} owes {n} hours for {favour}. Written down.",
        {
            "who": _each("Gus; the football club; Captain Hedda; Brandt junior; the verger"),
            "favour": _each(
                "the translated contract; the borrowed trailer; the night on the sofa; the mended"
                " net; the wedding photographs"
            ),
        },
    ),
    Phrase(
        "Today was {mood}: {n} calls, rain since {clock}, and the {thing} gave up.",
        "A {mood} day, then. The {thing} can wait until tomorrow.",
        {
            "mood": _each("grim; muddled; long; comic; slow; contrary"),
            "thing": _each("toaster; printer; door bell; sewing machine; kettle; umbrella"),
        },
    ),
    Phrase(
        "The {cloth} for {room} comes to {n} metres at {euros} euros the bolt.",
        "{n} metres of {cloth} for {room}. Wash it once before you sew.",
        {
            "cloth": _each("striped linen; sail canvas; felt; oilcloth; corduroy; ticking"),
            "room": _each(
                "the breakfast room; the stairs; the sun porch; the library; the gull room; the"
                " sauna"
            ),
        },
    ),
    Phrase(
        "Lost again: {lost}. Last seen on {past} near {where}.",
        "{lost}, near {where}, {past}. Look under things first.",
        {
            "lost": _each(
                "the good secateurs; my reading glasses; the visitors' stamp; the bread knife;"
                " the red torch; a box of hinges"
            ),
            "where": _each(
                "the greenhouse; the slipway; the hall mirror; the smokehouse; the coal bunker;"
                " the pier head"
            ),
        },
    ),
    Phrase(
        "{who} sings in {choir} on {day}; we have {n} tickets in row {row}.",
        "{n} tickets, row {row}, for {who} in {choir} on {day}.",
        {
            "who": _each("Amina; Cousin Renzo; The verger; Priya's twin; Fenna"),
            "choir": _each(
                "the shanty choir; the Varde cantata; the chapel; a quartet; the school opera"
            ),
            "row": _each("C; F; K; B; M"),
        },
    ),
    Phrase(
        "Note for the winter: {task} takes {n} days and must be done before {day}.",
        "{task}: {n} days, before {day}. It stands in the winter list.",
        {
            "task": _each(
                "tarring the rowing boat; bleeding the radiators; lagging the outside tap;"
                " sharpening the saws; greasing the lens; turning the mattresses"
            )
        },
    ),
    Phrase(
        "The new {tool} has serial number {code} and {n} months of guarantee.",
        "{tool}, serial {code}, {n} months. Keep the receipt with it.",
        {
            "tool": _each(
                "table saw; dishwasher; dehumidifier; bilge pump; coffee grinder; sewing machine"
            )
        },
    ),
    Phrase(
        "At the auction in {town} I bid {euros} euros for {lot}, lot {n}, and got it.",
        "{lot} for {euros} euros, lot {n}, in {town}. Congratulations.",
        {
            "town": _each("Kirkeby; Varde; Sandholm; Ribe; Tonder; Esbjerg"),
            "lot": _each(
                "a brass telescope; two church pews; a zinc bath; a card catalogue; a ship's"
                " stove; a set of charts"
            ),
        },
    ),
    Phrase(
        "{pupil} gets lessons in {subject} from me on {weekday}, {n} euros each time.",
        "{pupil}, {subject}, {weekday}, {n} euros. I will keep the count.",
        {
            "pupil": _each("Nora; Pelle; Lena; the baker's son; Yusuf"),
            "subject": _each("fractions; Italian; splicing; watercolour; the recorder"),
            "weekday": _each("Mondays; Tuesdays; Thursdays; Fridays; Saturdays"),
        },
    ),
    Phrase(
        "The bees in {hive} gave {kg} kilos; the jar labels carry {code}.",
        "{kg} kilos from {hive}, labels {code}.",
        {"hive": _each("the blue hive; the gable; the straw skep; hive four; the orchard")},
    ),
    Phrase(
        "I asked {who} about {matter}: the answer is {answer}, but only until {day}.",
        "{who} on {matter}: {answer}, until {day}.",
        {
            "who": _each("the harbour master; the bank; the council; the school; the coast guard"),
            "matter": _each(
                "night mooring; the second loan; the sign by the road; the summer fair; drones"
            ),
            "answer": _each("yes; yes, with a guarantor; yes, but smaller; not yet; no"),
        },
    ),
    Phrase(
        "{n} {fish} in {gear} this morning, the largest {cm} cm. {who} will not believe it.",
        "{n} {fish}, one of {cm} cm! I believe it.",
        {
            "fish": _each("mackerel; plaice; lumpfish; garfish; sea trout; cod"),
            "gear": _each(
                "the old net; the crab pots; the trammel; one hour of trolling; the weir; the"
                " children's nets"
            ),
            "who": _each("Hedda; Gus; Marek; Laszlo; Felix; Mr Okafor"),
        },
    ),
    Phrase(
        "My knee again: {who} prescribed {cure}, {n} drops at {clock}.",
        "{cure}, {n} drops at {clock}, says {who}. And no ladders.",
        {
            "who": _each("Doctor Lindahl; the pharmacist; Aunt Sabine; the physiotherapist"),
            "cure": _each("arnica; comfrey; willow bark; devil's claw"),
        },
    ),
    Phrase(
        "The letter to {office} went off on {past}, registered, number {code}.",
        "To {office}, {past}, registered as {code}. Two weeks is usual.",
        {
            "office": _each(
                "the heritage board; the tax office; the lighthouse authority; the embassy; the"
                " land registry; the patent office"
            )
        },
    ),
    Phrase(
        "For {sign} I want the words “{words}”, {cm} cm long, in enamel.",
        "“{words}” for {sign}, {cm} cm, enamel. Short and clear.",
        {
            "sign": _each("the jetty; the kitchen door; the bath house; the stairs; the garden"),
            "words": _each(
                "Mind the tide; Cooks only; Towels are here; One hundred and nine steps; Please"
                " pick"
            ),
        },
    ),
    Phrase(
        "{vehicle} went through inspection on {past} at {n} thousand kilometres, plate {code}.",
        "{vehicle}, {n} thousand kilometres, plate {code}, inspected {past}.",
        {"vehicle": _each("The van; Jonas's pickup; The quad; Nora's moped; The trailer")},
    ),
    Phrase(
        "A guest left {thing} in {room}; I put it in box {n} until {day}.",
        "{thing} from {room}: box {n}, until {day}.",
        {
            "thing": _each(
                "a silver thimble; one walking boot; a flute; a chess queen; a wedding speech; a"
                " set of dentures"
            ),
            "room": _each(
                "the gull room; the hammock; the dining room; the lens room; the sauna; the"
                " pilot's room"
            ),
        },
    ),
    Phrase(
        "The clock in {room} is {n} minutes {way}; I set it by the ferry at {clock}.",
        "{n} minutes {way} in {room}. I will ask again in a week.",
        {
            "room": _each(
                "the kitchen; the watch room; the boathouse; the hall; the annex; the school"
            ),
            "way": _each("slow; fast; behind; ahead; late; early"),
        },
    ),
    Phrase(
        "The {course} course is on {day} with {who}: {n} places, {euros} euros in all.",
        "{course} with {who} on {day}, {n} places. Shall I draft the notice?",
        {
            "course": _each("knot; sourdough; sea chart; basket; stargazing; first aid"),
            "who": _each(
                "Captain Hedda; Amina; Professor Iversen; Yuki; the bird ringer; the lifeboat crew"
            ),
        },
    ),
)

# What the prepared questions ask for, each said once, at this exchange (of 300).
PLANTED = {
    12: (
        "The padlock on the oil store opens with 7-2-9-4; please never write it on the door.",
        "7-2-9-4 for the padlock on the oil store. Not on the door.",
    ),
    47: (
        "Grandmother Odile's plum cake takes 340 grams of flour, 3 eggs and cardamom, never"
        " cinnamon.",
        "340 grams of flour, 3 eggs, cardamom: Odile would be pleased.",
    ),
    88: (
        "The tower is insured under policy HG-20417-K, with an excess of 650 euros.",
        "Policy HG-20417-K, excess 650 euros. I hope we never need it.",
    ),
    131: (
        "Careful when we cook: Jonas is allergic to hazelnuts and carries an injector in his"
        " left boot.",
        "No hazelnuts for Jonas; the injector is in his left boot. Understood.",
    ),
    176: (
        "The surveyor Beatriz Nunes found a crack of 11 mm in the west wall and wants it"
        " watched until October.",
        "A crack of 11 mm in the west wall, watched until October, says Beatriz Nunes.",
    ),
    229: (
        "I have decided: the guest house will be called The Second Lamp, and we open on 5 June.",
        "The Second Lamp, open from 5 June. A fine name.",
    ),
}

# Question, and what a right answer quotes.
QUESTIONS = (
    ("What opens the padlock on the oil store?", "7-2-9-4"),
    ("How much flour goes into Odile's plum cake?", "340 grams"),
    ("What is Jonas allergic to?", "hazelnuts"),
    ("How wide was the crack that the surveyor found?", "11 mm"),
    ("Which policy is the tower insured under?", "HG-20417-K"),
    ("What will the guest house be called?", "The Second Lamp"),
)
