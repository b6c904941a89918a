"""The example that voice conversion shows before a visitor's first run, kept in assets/examples."""

import json
from dataclasses import asdict
from typing import Any, Final

from earshot.core.paths import ASSETS
from earshot.systems.voice_conversion.units import Units
from earshot.tabs.components.timeline import SoundLanes
from earshot.tabs.voice_conversion.view import ConversionResult

FINISHED: Final = ASSETS / "examples" / "finished.json"


def write_finished(result: ConversionResult) -> None:
    """Write the example that the tab shows before its first run, next to its sounds."""
    sounds = {"source": result.source, "converted": result.converted}
    data: dict[str, Any] = {
        "units": json.loads(result.units.to_json()),
        "colors": result.colors,
        "target": result.target,
        "voice": result.voice,
        "vocoder": result.vocoder,
        "numbers": result.numbers,
    }
    for name, sound in sounds.items():
        if sound is None:
            raise ValueError("the finished example needs a source")
        data[name] = asdict(sound) | {"content": f"finished-{name}.{sound.suffix}"}
        (FINISHED.parent / data[name]["content"]).write_bytes(sound.content)
    FINISHED.write_text(json.dumps(data) + "\n")


def read_finished() -> ConversionResult | None:
    """Read the example that the tab shows before its first run; None where none was made."""
    if not FINISHED.exists():
        return None
    data = json.loads(FINISHED.read_text())
    units = Units.from_json(json.dumps(data["units"]))
    source, converted = (
        SoundLanes(
            **data[name] | {"content": (FINISHED.parent / data[name]["content"]).read_bytes()}
        )
        for name in ("source", "converted")
    )
    return ConversionResult(
        units,
        units,
        tuple(data["colors"]),
        source,
        converted,
        data["target"],
        data["voice"],
        data["vocoder"],
        data["numbers"],
    )
