"""Units as JSON: the round trip, and what is refused."""

import numpy as np
import pytest

from earshot.core.errors import InputError
from earshot.systems.voice_conversion.settings import MUTED
from earshot.systems.voice_conversion.units import Units
from tests.support.quickness import quickly


def test_units_from_own_json_are_equal() -> None:
    units = Units(np.array([3, MUTED, 511]), 0.02, "vqvae-512", "abc")
    again = Units.from_json(units.to_json())
    assert again.codes.tolist() == [3, MUTED, 511]
    assert (again.step, again.model, again.fingerprint) == (0.02, "vqvae-512", "abc")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not json",
        "[]",
        "null",
        '{"codes": [1]}',
        '{"codes": "12", "step": 0.02, "model": "m", "fingerprint": "f"}',
        '{"codes": [1.5], "step": 0.02, "model": "m", "fingerprint": "f"}',
        '{"codes": [true], "step": 0.02, "model": "m", "fingerprint": "f"}',
        '{"codes": [1], "step": "long", "model": "m", "fingerprint": "f"}',
        '{"codes": [99999999999999999999], "step": 0.02, "model": "m", "fingerprint": "f"}',
        '{"codes": [1], "step": 1, "model": "m", "fingerprint": "f", "vectors": [[1e38]]}',
    ],
)
def test_units_from_any_other_text_raise(text: str) -> None:
    with pytest.raises(InputError, match="not a units file"):
        Units.from_json(text)


@pytest.mark.parametrize("text", ["[]," * 400_000, "[" * 2000, "1," * 500_001])
def test_too_large_units_raise_at_once(text: str) -> None:
    """So does text that is nested too deep."""
    with quickly(), pytest.raises(InputError, match="This JSON"):
        Units.from_json(text)
