"""What a listening test is, and the files that describe one."""

from earshot.study.design.model import (
    ANCHORS,
    DESIGNS,
    PAIRED,
    QUESTIONS,
    REFERENCE,
    REFERENCED,
    SCALES,
    Answer,
    Design,
    Item,
    Test,
    Trial,
)

__all__ = [
    "ANCHORS",
    "Answer",
    "DESIGNS",
    "Design",
    "Item",
    "PAIRED",
    "QUESTIONS",
    "REFERENCE",
    "REFERENCED",
    "SCALES",
    "Test",
    "Trial",
]
