"""The English words of the library: words that visitors try first, and minimal pairs."""

from typing import Final

GROUPS: Final[dict[str, str]] = {
    "greetings": "hello goodbye welcome thanks please sorry yes no okay morning evening tonight",
    "names": "anna peter maria thomas david sarah michael emma james julia martin laura robert "
    "alice daniel susan jacob helen oliver nina simon clara lucas sofia henry marvin sheila",
    "places": "london paris berlin vienna rome madrid tokyo boston dublin athens amsterdam "
    "barcelona seattle sydney moscow beijing shanghai india china japan france germany italy "
    "spain canada mexico brazil africa america europe",
    "animals": "cat dog bird horse cow pig sheep goat chicken duck mouse rabbit lion tiger "
    "elephant monkey bear wolf fox snake frog fish whale shark dolphin eagle owl parrot penguin "
    "spider butterfly bee ant camel donkey giraffe kangaroo turtle crocodile dinosaur",
    "food": "coffee tea water milk juice beer wine bread butter cheese egg apple banana orange "
    "lemon cherry strawberry grape melon potato tomato onion carrot pepper salad soup rice pasta "
    "pizza chocolate sugar salt cookie cake honey ice cream sandwich breakfast lunch dinner",
    "colours": "red green blue yellow black white brown purple pink gray silver golden",
    "numbers": "zero one two three four five six seven eight nine ten eleven twelve thirteen "
    "fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty hundred "
    "thousand million",
    "times": "monday tuesday wednesday thursday friday saturday sunday january february march "
    "april june july august september october november december today tomorrow yesterday hour "
    "minute week month year spring summer autumn winter",
    "body": "head hair face eye ear nose mouth tooth tongue lip neck shoulder arm hand finger "
    "back heart stomach leg knee foot toe skin bone",
    "things": "house home door window table chair lamp kitchen garden key book letter pen pencil "
    "bottle glass cup plate knife fork spoon clock watch phone telephone camera computer "
    "keyboard television radio guitar piano violin ball bicycle car bus train airplane boat "
    "bridge street hospital school church museum airport station shop market money ticket "
    "umbrella jacket shirt shoe hat mirror candle",
    "nature": "sun moon star sky cloud rain snow breeze storm thunder river lake ocean island "
    "mountain forest tree flower grass leaf stone sand fire earth",
    "people": "mother father brother sister baby child woman man friend teacher doctor student "
    "professor president king queen",
    "verbs": "go come eat drink sleep walk run jump swim fly sing dance play work speak listen "
    "look think learn teach remember forget give take open stop start help love laugh cry say "
    "write",
    "other": "happy beautiful wonderful big small good bad new old hot cold left right up down "
    "on off world music song game story dream question answer",
    "conference": "speech speaker noise signal paper poster language word voice sound vowel "
    "consonant accent microphone recording phoneme spectrum pitch machine learning network "
    "neural model data science experiment result project lecture workshop university laboratory "
    "conference session robot internet transformer embedding acoustic algorithm",
}
# Minimal pairs.
PAIRS: Final = (
    "tree three, ship sheep, bear pear, right ride, thin fin, peach speech, bat cat, light night, "
    "fan van, sink think, rice lice, wet vet, mouse mouth, pin pen, coat goat, "
    "price prize, cheap jeep, sell shell, fool full, bad bed, fill feel, day they, sun fun, "
    "glass grass, ten tin, back bag, seat sit, walk work, three free, hat heart, west vest"
)


def words() -> list[str]:
    """List all spellings without repetition, the groups first."""
    groups = [word for group in GROUPS.values() for word in group.split()]
    return list(dict.fromkeys([*groups, *PAIRS.replace(",", "").split()]))
