"""What people type, as a caption: questions and commands without what surrounds the sound, "can you
find me a dog that barks"; and how often, or how long, it is to be heard: "three knocks", "at least
five seconds of rain".

A small grammar, without a model: imports no torch. What stands in double quotes is left as it is.
"""

import math
import re
from dataclasses import dataclass
from functools import cache
from typing import Final

GREETING: Final = r"(?:(?:hey|hi|hello|ok|okay|please|so|well)\b[,!]?\s+)*"
VERB: Final = (
    r"(?:find|play|show|get|give|fetch|bring|look for|look up|search for|search|let me hear"
    r"|let me have|let's hear)"
)
# What people say before the sound, and then what they call it.
ASKING: Final = "|".join(
    (
        rf"(?:can|could|would|will) (?:you|i) (?:please |just )?{VERB}(?: me| us)?(?: for)?",
        r"(?:can|could|may) (?:i|we) (?:please )?(?:hear|have|get|find|listen to)",
        rf"{VERB}(?: me| us)?(?=\s+(?:an?|the|some|any|something|sounds?|recordings?)\b)",
        rf"{VERB} (?:me|us)(?: please)?",
        r"(?:find|search for|look for|looking for)",
        r"(?:i|we)(?:'m| am|'re| are) (?:looking|searching) for",
        r"(?:i|we) (?:really )?(?:want|need|wish|would like|'d like)(?: to (?:hear|find|have|get"
        r"|listen to))?",
        r"i'd (?:like|love)(?: to (?:hear|find|have|get|listen to))?",
        r"(?:do you have|have you got|you got|got|is there|are there|are you able to find)",
        r"(?:where|how) (?:can|could|do) i (?:find|hear|get)",
        r"which (?:sounds?|recordings?|files?|clips?|ones?) (?:has|have|contains?|is|are)",
    )
)
CALLED: Final = (
    r"(?:(?:an?|the|some|any|me|one)\s+)?(?:good |nice )?"
    r"(?:(?:sound|audio)? ?(?:effects?|sounds?|recordings?|clips?|noises?|samples?|audio|files?)"
    r"|something|anything)"
    r" (?:of|with|like|where|in which|that sounds like|that has|which has|containing|featuring"
    r"|from)\s+"
)
BEFORE: Final = re.compile(
    rf"{GREETING}(?:(?:{ASKING})\s+(?:{CALLED})?|{CALLED}(?=\w))", re.IGNORECASE
)
SOUNDS_LIKE: Final = re.compile(
    r"(?:what|how) (?:does|do|did|would) (?P<what>.+?) sounds?(?: like)?", re.IGNORECASE
)
BEHIND: Final = re.compile(
    r"(?:,? (?:please|thanks|thank you|for me|in (?:here|there)|anywhere|somewhere|or not"
    r"|in (?:the|your|this) (?:library|collection)|i can (?:hear|use))| in it)+$",
    re.IGNORECASE,
)
ASKS: Final = re.compile(r"[\s?!.]+$")
DANGLING: Final = re.compile(r"(?:any|some)\s+(?=\w)", re.IGNORECASE)

NUMBERS: Final = {
    **dict(
        zip("one two three four five six seven eight nine ten".split(), range(1, 11), strict=True)
    ),
    "fifteen": 15,
    "twenty": 20,
    "thirty": 30,
    "sixty": 60,
    "a": 1,
    "an": 1,
    "half a": 0.5,
}
NUMBER: Final = r"(?:\d+(?:\.\d+)?|" + "|".join(sorted(NUMBERS, key=len, reverse=True)) + ")"
TIMES: Final = {"once": 1, "twice": 2, "thrice": 3}
# What happens once each time: "three knocks" are counted, "three dogs" are not.
EVENTS: Final = (
    r"(?:(?:door|dog|cat|phone|telephone|car|bell|gun|hand|finger|owl|church|clock|mouse|camera"
    r"|short|long|loud|quick|slow|soft|sharp|distant|single)\s+)*"
    r"(?:knock|bark|beep|bleep|click|clap|ring|shot|gunshot|chime|cough|sneeze|honk|hoot|tap|bang"
    r"|thud|boom|drip|drop|footstep|step|meow|miaow|chirp|whistle|snap|pop|tick|toll|stroke|blast"
    r"|hit|crash|buzz|caw|crow|moo|quack|squeak|squeal|scream|shout|laugh|explosion|splash|burp"
    r"|hiccup|snort|thump|crack|burst|toot|ding|ping|slam|chop|stomp|sniff|croak|bleat|roar|howl"
    r"|neigh|cluck|gong|note)"
)
COUNTS: Final = re.compile(
    rf"\b(?!an?\b|one\b|1\b)(?P<n>(?<!\.){NUMBER}) (?=(?:{EVENTS})(?:e?s)\b)"
    rf"|\b(?:a single|just one|only one|exactly one|one single|one) (?=(?:{EVENTS})\b)",
    re.IGNORECASE,
)
REPEATED: Final = re.compile(
    rf",? (?:exactly |just |only )?(?<!\bat )(?:(?P<word>once|twice|thrice)|(?P<n>{NUMBER}) times)"
    r"\b(?! (?:upon|again|more))(?: in a row)?",
    re.IGNORECASE,
)
UNIT: Final = r"(?P<unit>s|secs?|seconds?|mins?|minutes?)"
BOUND: Final = (
    r"(?P<bound>at least|more than|longer than|over|at most|less than|shorter than|under|up to"
    r"|no more than|no longer than|about|around|roughly|exactly|some)"
)
LASTING: Final = (
    re.compile(
        rf"^(?:{BOUND} )?(?P<n>{NUMBER})[ -]?{UNIT}(?: long| worth)? of (?=\w)", re.IGNORECASE
    ),
    re.compile(
        rf",? (?:that |which )?(?:for|lasting|lasts|going on for|goes on for)"
        rf" (?:{BOUND} )?(?P<n>{NUMBER})[ -]?{UNIT}\b",
        re.IGNORECASE,
    ),
    re.compile(
        rf",? (?:that is |which is )?{BOUND} (?P<n>{NUMBER})[ -]?{UNIT}(?: long)?$", re.IGNORECASE
    ),
)
LONG_WORDS: Final = re.compile(
    r"\b(?:(?:very|really|rather) )?(?:(?P<long>long-lasting|long|prolonged|lengthy|extended"
    r"|sustained|drawn-out)|(?P<short>short|brief|momentary)),?"
    r"(?! (?:ago|way|distance|time|while|after|before|silence|pause|run|walk|day|night))\s+(?=\w)|"
    r"(?P<late>,? for a long (?:time|while))$"
    r"|(?P<brief>,? (?:for a moment|briefly))$",
    re.IGNORECASE,
)
LONG_SECONDS: Final = 8.0  # a "long" sound is so long, and a "short" one at most so short
SHORT_SECONDS: Final = 1.0
ROUGH_SHARE: Final = 0.25  # by which about five seconds may be more or less
AT_MOST: Final = ("at most", "less than", "shorter than", "under", "up to")
AT_LEAST: Final = ("at least", "more than", "longer than", "over")


@dataclass(frozen=True)
class Amount:
    """How often, and how long, a sound is to be heard. count: None for any; seconds: the least and
    the most; name: as the page calls it."""

    count: int | None = None
    seconds: tuple[float, float] = (0.0, math.inf)
    name: str = ""

    def fit(self, count: int, seconds: float) -> float:
        """Say how well so many times, and so many seconds in all, fit: from 0 to 1."""
        least, most = self.seconds
        fits = min(1.0, seconds / least) if least else 1.0
        if seconds > most:
            fits *= most / seconds
        if self.count is not None:
            fits *= 1 / (1 + abs(count - self.count))
        return fits


@cache
def as_caption(text: str) -> str:
    """Take off a question or command all that is not the sound.

    >>> as_caption("Can you find me a dog that barks?")
    'a dog that barks'
    """
    rest = ASKS.sub("", BEHIND.sub("", ASKS.sub("", text.strip())))
    asks = text.rstrip().endswith("?")
    if whole := SOUNDS_LIKE.fullmatch(rest):
        return whole["what"]
    if match := BEFORE.match(rest):
        rest = DANGLING.sub("", rest[match.end() :], count=1)
    elif not asks:
        return text
    return rest if re.search(r"\w", rest) else text


@cache
def amount_of(part: str) -> tuple[str, Amount | None]:
    """Split a part of a query into the sound, and how often or how long it is to be heard, if the
    part says so.

    >>> amount_of("a phone that rings twice")[0]
    'a phone that rings'
    """
    rest, count, seconds, names = part, None, (0.0, math.inf), []
    for pattern in LASTING:
        if match := pattern.search(rest):
            length = _number(match["n"]) * (60 if match["unit"].lower().startswith("m") else 1)
            seconds = _between(length, (match["bound"] or "about").lower())
            names.append(f"{match['bound'] + ' ' if match['bound'] else ''}{length:g} s")
            rest = _cut(rest, match)
            break
    else:
        if match := LONG_WORDS.search(rest):
            is_long = bool(match["long"] or match["late"])
            seconds = (LONG_SECONDS, math.inf) if is_long else (0.0, SHORT_SECONDS)
            names.append("long" if is_long else "short")
            rest = _cut(rest, match)
    if match := REPEATED.search(rest):
        count = TIMES.get((match["word"] or "").lower()) or round(_number(match["n"]))
    elif match := COUNTS.search(rest):
        count = round(_number(match["n"])) if match["n"] else 1
    if match and count:
        names.insert(0, "once" if count == 1 else f"{count} times")
        rest = _cut(rest, match)
    if not names or not re.search(r"\w", rest):
        return part, None
    return rest, Amount(count, seconds, ", ".join(names))


def _between(seconds: float, bound: str) -> tuple[float, float]:
    if bound in AT_LEAST:
        return seconds, math.inf
    if bound in AT_MOST or bound.startswith("no "):
        return 0.0, seconds
    return seconds * (1 - ROUGH_SHARE), seconds * (1 + ROUGH_SHARE)


def _number(text: str) -> float:
    return float(NUMBERS.get(text.lower(), 0) or text)


def _cut(text: str, match: re.Match[str]) -> str:
    """Cut a match out of a text."""
    rest = " ".join((text[: match.start()] + " " + text[match.end() :]).split()).strip(" ,")
    return rest.replace(" ,", ",")
