"""Errors of requests, said so that a rater knows what to do."""

import logging
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Final

from fastapi import HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute

from earshot.core.errors import InputError
from earshot.core.http import SmallRequest
from earshot.study.library import BusyError
from earshot.study.storage.database import UNAVAILABLE
from earshot.study.storage.raters import NoPlaceError
from earshot.study.storage.store import StaleAnswerError

NOT_STORED: Final = "The server cannot store anything at the moment. Try again in a few seconds."
RETRY: Final = 2  # seconds

logger = logging.getLogger("earshot")


class PlainErrors(APIRoute):
    """A route that says in a sentence what is wrong, in a request or with the store of answers, and
    refuses a request that is too long.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def plainly(request: Request) -> Response:
            try:
                return await handle(SmallRequest(request.scope, request.receive))
            except RequestValidationError as error:
                raise HTTPException(422, damage(error)) from error
            except UNAVAILABLE as error:
                logger.error("the store of answers failed: %s", error)
                raise HTTPException(503, NOT_STORED, {"Retry-After": str(RETRY)}) from error

        return plainly


def damage(error: RequestValidationError) -> str:
    """Say what is wrong with a request. Its first mistake is named in ASCII, for a name in it may
    hold half a character, which no reply can.
    """
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"][1:]) or "body"
    named = f"{place}: {first['msg']}".encode("ascii", "backslashreplace").decode()
    return f"This request was damaged on its way ({named})."


async def refuse_damaged(_: Request, error: RequestValidationError) -> JSONResponse:
    """Refuse a damaged request in place of FastAPI's own reply, which repeats the request: that
    fails where it holds NaN or half a character.
    """
    return JSONResponse({"detail": damage(error)}, 422)


@contextmanager
def explained(status: int) -> Iterator[None]:
    """Turn what a rater can cause into an answer that says what to do."""
    try:
        yield
    except BusyError as error:
        raise HTTPException(503, str(error), {"Retry-After": str(RETRY)}) from error
    except StaleAnswerError as error:
        raise HTTPException(409, str(error)) from error
    except NoPlaceError as error:  # the page asks anew how the test stands
        raise HTTPException(410, str(error)) from error
    except InputError as error:
        raise HTTPException(status, str(error)) from error
