"""What requests of the rater's page hold."""

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from earshot.study.design.model import MAX_CONDITIONS
from earshot.study.design.panel import MAX_NAMES
from earshot.study.design.questions import LONGEST
from earshot.study.sounds import headphones

MOST: Final = 2**31 - 1  # of a number, for any database
MAX_PLACES: Final = MAX_CONDITIONS + 1  # of a trial, with the open reference

Token = Annotated[str, Field(max_length=128)]
Whole = Annotated[int, Field(ge=0, le=MOST)]
Wholes = Annotated[list[Whole], Field(max_length=MAX_PLACES)]
Name = Annotated[str, Field(max_length=40)]
Said = Annotated[str, Field(max_length=200)]  # by a panel's link


class Body(BaseModel):
    """Anything else in it is an error."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Consent(Body):
    rater: Token | None = None
    language: Annotated[str, Field(pattern=r"[a-z]{2,3}", max_length=8)] = "en"
    panel: Annotated[dict[Name, Said], Field(max_length=MAX_NAMES)] = {}


class Leaving(Body):
    rater: Token


class Check(Body):
    rater: Token
    attempt: int = Field(ge=0, lt=headphones.ATTEMPTS)
    answers: list[Whole] = Field(min_length=headphones.TRIALS, max_length=headphones.TRIALS)


class Reply(Body):
    rater: Token
    question: Whole
    trials: Whole
    reply: Whole | Annotated[str, Field(max_length=LONGEST)]


class Answered(Body):
    rater: Token
    order: Whole
    answer: Annotated[int, Field(ge=-MOST, le=MOST)] | Annotated[str, Field(max_length=16)] | Wholes
    plays: Wholes
    milliseconds: Whole
