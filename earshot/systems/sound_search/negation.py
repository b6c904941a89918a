"""The part of a query that is not wanted: "rain without thunder", "not a dog", "birds, but no
crows".

Without a model: imports no torch. What stands in double quotes is taken as it is.
"""

import re
from typing import Final

from earshot.systems.sound_search.compound import CONNECTOR

NEGATION: Final = re.compile(
    r"(?:^|(?P<before>[\w\"”’)]+)?[,;]?\s+)(?:(?:but|and|with|there is|there are)\s+)*"
    r"(?:not|without|no)\s+(?:any\s+)?(?=[\w\"“])",
    re.IGNORECASE,
)
# "is not", "can not": of a verb, and no sound. The same for "n't".
VERBS: Final = frozenset(
    "is are was were be been am do does did can could will would shall should has have had may "
    "might must or if why".split()
)
# "no one", "not only", "no longer": no sound follows.
PHRASES: Final = re.compile(
    r"(?:one|longer|matter|only|so|too|very|yet|quite|doubt|more|less|much|at all|just|far|long"
    r"|even|always|really|to|being|knowing|stopping|it|him|her|them|you|me|us)\b",
    re.IGNORECASE,
)


def split_unwanted(text: str) -> tuple[str, str]:
    """Split a text into what it wants and what it does not; the latter is "" for most."""
    for match in NEGATION.finditer(text):
        rest = text[match.end() :]
        quoted = text[: match.end()].count('"') % 2 or "“" in text[: match.end()].rpartition("”")[2]
        word = (match["before"] or "").lower()
        if quoted or word in VERBS or PHRASES.match(rest):
            continue
        # What comes after "then" or "while" is wanted again.
        end = next((m.start() for m in CONNECTOR.finditer(rest) if m.lastgroup != "and"), len(rest))
        before = text[: match.end("before") if match["before"] else match.start()]
        unwanted, more = split_unwanted(rest[:end])
        wanted = (before + rest[end:]).strip(" ,;.")
        return wanted, " and ".join(filter(None, (unwanted.strip(" ,;."), more)))
    return text, ""
