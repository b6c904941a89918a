"""The design of a listening test, and the files that describe one."""

from earshot.study.design.designs import ANCHORS, DESIGNS, REFERENCE, Answer, Design, Scale
from earshot.study.design.model import Item, Test, Trial

__all__ = ["ANCHORS", "Answer", "DESIGNS", "Design", "Item", "REFERENCE", "Scale", "Test", "Trial"]
