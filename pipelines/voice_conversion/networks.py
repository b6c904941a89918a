"""The networks of a checkpoint, from its config."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from torch import nn

from models.conversion.bottleneck import Bottleneck, BottleneckConfig
from models.conversion.content import ContentConfig, ContentEncoder
from models.conversion.inverter import ContourPredictor, Inverter, InverterConfig
from models.conversion.reference import ReferenceConfig, ReferenceEncoder
from models.conversion.voices import VoiceTable
from pipelines.voice_conversion.voice import Voice


def build(config: Mapping[str, Any]) -> nn.ModuleDict:
    """Untrained networks of a checkpoint's config."""
    reference = ReferenceConfig(**config["reference"])
    inverter = InverterConfig(**config["inverter"])
    bottleneck = {name: _tuple(value) for name, value in config["bottleneck"].items()}
    return nn.ModuleDict(
        {
            "content": ContentEncoder(ContentConfig(**config["content"])),
            "bottleneck": Bottleneck(BottleneckConfig(**bottleneck)),
            "reference": ReferenceEncoder(reference),
            "inverter": Inverter(inverter),
            "contour": ContourPredictor(inverter),
            "voices": VoiceTable(len(config["voices"]), reference.voice_width),
        }
    )


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def shipped(names: list[str], table: nn.Module) -> Mapping[str, Voice]:
    """The voices of a table by name."""
    assert isinstance(table, VoiceTable)
    rows = zip(names, table.vector, table.pitch_mean, table.pitch_std, strict=True)
    return MappingProxyType(
        {n: Voice(n, v.cpu().numpy(), float(mean), float(std)) for n, v, mean, std in rows}
    )
