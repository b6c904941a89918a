"""Docstrings of endpoints, taken apart."""

from collections.abc import Callable, Iterable

import pytest

from earshot.systems.voice_conversion import settings
from earshot.tabs.lip_to_speech.events import LipAPI
from earshot.tabs.shared.tool_server import read_docstring
from earshot.tabs.voice_conversion.events import ConversionAPI


def test_read_docstring_joins_lines_of_entries() -> None:
    def example(one: str, two: int) -> str:
        """What it does,
        in two lines.

        Args:
            one: the first.
            two: the second, which goes on
                in another line: this one.

        Returns:
            made: something
            that goes on too.
        """
        return one * two

    doc = read_docstring(example, ["made"])
    assert doc.summary == "What it does, in two lines."
    assert doc.parameters == {
        "one": "the first.",
        "two": "the second, which goes on in another line: this one.",
    }
    assert doc.returns == {"made": "something that goes on too."}


@pytest.mark.parametrize(
    ("endpoint", "parameter", "values"),
    [
        (ConversionAPI.convert, "target", settings.VOICES),
        (ConversionAPI.decode, "target", settings.VOICES),
        (LipAPI.lip_to_speech, "voice", settings.VOICES),
        (ConversionAPI.convert, "model", settings.MODELS),
        (ConversionAPI.encode, "model", settings.MODELS),
    ],
)
def test_docstring_of_endpoint_names_all_values(
    endpoint: Callable, parameter: str, values: Iterable[str]
) -> None:
    *others, last = values
    text = read_docstring(endpoint, ()).parameters[parameter]
    assert f"{', '.join(others)} or {last}." in text


def test_vqvae_models_have_first_five_voices() -> None:
    assert settings.VOICES[:5] == settings.VQVAE_VOICES
