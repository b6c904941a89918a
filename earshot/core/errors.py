"""The errors that a visitor can cause."""


class InputError(ValueError):
    """An input that cannot be used.

    The message is shown to visitors: it says what is wrong and what to do, and names neither
    files nor folders.
    """


class StoppedError(InputError):
    """Work that was stopped before its end: by the visitor, or by its deadline."""
