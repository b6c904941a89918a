"""Docstrings of endpoints, taken apart."""

from earshot.tabs.shared.docstrings import read_docstring


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
