"""The bodies of requests of the rater's page."""

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from earshot.study.design.designs import MAX_CONDITIONS
from earshot.study.design.panel import MAX_NAMES
from earshot.study.design.questions import MAX_CHARACTERS
from earshot.study.design.scales import MAX_COMMENT, MAX_SCALES, MAX_SENTENCE
from earshot.study.design.sitting import MAX_PAIRS
from earshot.study.sounds import checks

MAX_NUMBER: Final = 2**31 - 1  # of a number, for any database
MAX_TOKEN: Final = 4000  # characters of what a panel signs
MAX_PLACES: Final = MAX_CONDITIONS + 1  # of a trial, with the open reference

Token = Annotated[str, Field(max_length=128)]
Whole = Annotated[int, Field(ge=0, le=MAX_NUMBER)]
Wholes = Annotated[list[Whole], Field(max_length=MAX_PLACES)]
Name = Annotated[str, Field(max_length=40)]
Given = (  # to one of several scales, or what was written
    Annotated[int, Field(ge=-MAX_NUMBER, le=MAX_NUMBER)]
    | Annotated[str, Field(max_length=max(MAX_COMMENT, MAX_SENTENCE))]
    | Wholes
)
Claim = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{16,64}$")]  # of a browser, random
Said = Annotated[str, Field(max_length=200)]  # by a panel's link


class Body(BaseModel):
    """The body of a request; anything else in it is an error."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Consent(Body):
    rater: Token | None = None
    language: Annotated[str, Field(pattern=r"^[a-z]{2,3}$", max_length=3)] = "en"
    device: Annotated[str, Field(pattern=r"^(phone|tablet|computer), [A-Za-z ]{1,20}$")] | None = (
        None
    )
    claim: Claim | None = None
    signed: Annotated[str, Field(max_length=MAX_TOKEN)] | None = None
    panel: Annotated[dict[Name, Said], Field(max_length=MAX_NAMES)] = {}


class Leaving(Body):
    rater: Token


class Check(Body):
    rater: Token
    attempt: int = Field(ge=0, lt=checks.MAX_ATTEMPTS)
    loudspeakers: bool = False  # whoever says so is not asked again
    answers: list[Whole] = Field(
        min_length=checks.HEADPHONE_TRIALS, max_length=checks.HEADPHONE_TRIALS
    )


class RoomCheck(Body):
    rater: Token
    attempt: int = Field(ge=0, lt=checks.MAX_ATTEMPTS)
    answers: list[Whole] = Field(min_length=1, max_length=MAX_PAIRS)


class Missing(Body):
    rater: Token
    order: Whole
    place: Annotated[int, Field(ge=0, lt=MAX_PLACES)]


class Reply(Body):
    rater: Token
    question: Whole
    trials: Whole
    reply: Whole | Annotated[str, Field(max_length=MAX_CHARACTERS)] | None


class Answered(Body):
    rater: Token
    order: Whole
    answer: (
        Annotated[int, Field(ge=-MAX_NUMBER, le=MAX_NUMBER)]
        | Annotated[str, Field(max_length=16)]
        | Wholes
        | Annotated[dict[Name, Given], Field(max_length=MAX_SCALES + 1)]
    )
    plays: Wholes
    milliseconds: Whole
    version: Whole = 0
