"""Who asks: which rater of a test, and who keeps what they do."""

from collections.abc import Callable
from typing import Final

from fastapi import HTTPException, Request

from earshot.study import preview
from earshot.study.design import Test
from earshot.study.library import Opened
from earshot.study.preview import Previews
from earshot.study.storage import panel
from earshot.study.storage.raters import Rater
from earshot.study.storage.store import Store
from earshot.study.web import languages
from earshot.study.web.checks import TOKEN, checked
from earshot.study.web.wording import written

NOBODY: Final = "Nobody with this link takes part in this test. Open it again from the beginning."


class Raters:
    """Of all tests. Those who only try a test are kept apart."""

    def __init__(self, store: Store, previews: Callable[[], Previews]) -> None:
        """previews: keeps what is done on trial."""
        self._store, self._previews = store, previews

    def keeper(self, opened: Opened, token: str | None) -> tuple[Store, Test]:
        """Who keeps what the rater does, and the test as they take it."""
        if preview.is_preview(opened.key, token):
            return self._previews(), preview.previewed(opened)
        return self._store, opened.test

    def taking(self, opened: Opened, token: str) -> Rater:
        """The rater. Raises HTTPException where nobody has this token."""
        kept, test = self.keeper(opened, token)
        rater = kept.resume(test, checked(token))
        if rater is None:
            raise HTTPException(404, NOBODY)
        return rater

    def language(
        self, request: Request, opened: Opened, token: str | None, asked: str | None
    ) -> str:
        """The rater's: the one in which they agreed, else the one to show them."""
        known = None
        if token and TOKEN.fullmatch(token):
            kept, test = self.keeper(opened, token)
            known = kept.resume(test, token)
        if known and known.language:
            return known.language
        accepted = request.headers.get("accept-language", "")
        return languages.chosen(asked, accepted, written(opened.test), opened.test.language)


def member(request: Request, opened: Opened) -> str | None:
    """The token of who comes by a panel's link, which does not hold it."""
    said, link = dict(request.query_params), opened.test.panel.link
    if not link or not said.get(link[0]):
        return None
    return panel.token(opened.test.panel, opened.key, said)
