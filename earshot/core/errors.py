"""The errors that a visitor can cause."""


class InputError(ValueError):
    """An input that cannot be used.

    The message is shown to visitors: it says what is wrong and what to do, and names neither
    files nor folders. What only someone in front of a microphone or camera can do, such as to
    record again, is its advice, which command lines and answers to programs leave out.
    """

    def __init__(self, message: str, advice: str = "") -> None:
        super().__init__(f"{message} {advice}".strip())
        self.message, self.advice = message, advice


class StoppedError(InputError):
    """Work that was stopped before its end: by the visitor, or by its deadline."""


class PlugInError(InputError):
    """A fault of a plug-in; the message has its name, and where in its file the fault lies."""
