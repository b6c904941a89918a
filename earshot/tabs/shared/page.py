"""The content above and below the tabs."""

import re
from pathlib import Path
from typing import Final

HEADER: Final = """
<div class="masthead"><h1><svg viewBox="0 0 32 32" aria-hidden="true"><path
d="M4 13v6M9 9v14M14 4v24M19 10v12M24 7v18M29 13v6"/></svg>Earshot</h1>
<p>Speech systems that you can hear, look inside, and try with your own voice.</p></div>
"""
FOOTER: Final = """
<footer class="colophon">
<p>What you record or upload is used for your answer only. It is never logged or trained on, and
the server deletes it within the hour, but for the sounds of listening tests that you open.</p>
<p>Code: Apache-2.0. Model weights: see the model cards above.
<a href="agents.md" target="_blank">Use Earshot from a program</a></p>
<details class="on-phone"><summary>Open on a phone</summary><img src="qr.svg" loading="lazy"
alt="QR code of this page’s address" width="180" height="180"></details></footer>
"""
HEAD: Final = f"<script>{Path(__file__).with_name('page.js').read_text(encoding='utf-8')}</script>"
KIOSK: Final = (
    f"<script>{Path(__file__).with_name('kiosk.js').read_text(encoding='utf-8')}</script>"
)
NO_CARDS: Final = "No model is installed yet."


def model_cards(folder: Path) -> str:
    """Join the README of every checkpoint in the folder as one Markdown text."""
    cards = [path.read_text() for path in sorted(folder.glob("*/README.md"))]
    # The front matter is for the hub, and the page has its own first and second headings.
    texts = [re.sub(r"\A---\n.*?\n---\n", "", card, flags=re.DOTALL).strip() for card in cards]
    lower = [re.sub(r"^#", "###", text, flags=re.MULTILINE) for text in texts]
    return "\n\n---\n\n".join(lower) or NO_CARDS
