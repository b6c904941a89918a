"""The raters who ask: which rater of a test, and which store keeps what they do."""

from collections.abc import Callable, Mapping
from typing import Final

from fastapi import HTTPException, Request

from earshot.core.errors import InputError
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

BEGUN: Final = (
    "You began this test in another browser, or on another device: go on there. Nobody gets your "
    "answers to go on with for your number alone."
)
NOBODY: Final = "Nobody with this link takes part in this test. Open it again from the beginning."


class Raters:
    """The raters of all tests. Those who only try a test are kept apart."""

    def __init__(self, store: Store, previews: Callable[[], Previews]) -> None:
        """Keep the stores. previews: keeps what is done on trial."""
        self._store, self._previews = store, previews

    def store_for(self, opened: Opened, token: str | None) -> tuple[Store, Test]:
        """Choose the store of what the rater does, and the test as they take it."""
        if preview.is_preview(opened.key, token):
            return self._previews(), preview.previewed(opened)
        return self._store, opened.test

    def rater(self, opened: Opened, token: str) -> Rater:
        """Find the rater. Raises HTTPException where nobody has this token."""
        kept, test = self.store_for(opened, token)
        rater = kept.resume(test, checked(token))
        if rater is None:
            raise HTTPException(404, NOBODY)
        return rater

    def member(
        self, opened: Opened, said: Mapping[str, str], signed: str | None, claim: str | None
    ) -> tuple[str, Rater | None]:
        """Find the token of a member who comes by a panel's link, which does not hold it, and the
        rater: None for somebody new.

        said, signed: what the link says, and what the panel has signed of it; claim: the secret of
        the browser. Raises InputError where the link is no member's, and for a member who began
        elsewhere: a number proves nothing, for others may know it.
        """
        of_test = opened.test.panel
        proved = panel.signed(of_test, signed) if of_test.signed else said
        token = panel.token(of_test, opened.key, proved)
        known = self._store.resume(opened.test, token)
        if known and not of_test.signed and known.claim != claimed(opened, claim):
            raise InputError(BEGUN)
        return token, known

    def language(
        self, request: Request, opened: Opened, token: str | None, asked: str | None
    ) -> str:
        """Choose the rater's language: the one in which they agreed, else the one to show them."""
        known = None
        if token and TOKEN.fullmatch(token):
            kept, test = self.store_for(opened, token)
            known = kept.resume(test, token)
        if known and known.language:
            return known.language
        accepted = request.headers.get("accept-language", "")
        return languages.chosen(asked, accepted, written(opened.test), opened.test.language)


def claimed(opened: Opened, claim: str | None) -> str:
    """Hash the secret of a browser; what no rater has where there is none."""
    return panel.hashed(opened.key, "claim", claim) if claim else ""
