"""Line icons, drawn here so that nothing is fetched."""

PATHS = {
    "play": '<path d="M7 4.8v14.4L19 12z" fill="currentColor"/>',
    "pause": '<path d="M7 5h3.4v14H7zM13.6 5H17v14h-3.4z" fill="currentColor"/>',
    "download": '<path d="M12 4v11m-4.5-4.5L12 15l4.5-4.5M5 19.5h14"/>',
    "plus": '<path d="M12 6v12M6 12h12"/>',
    "minus": '<path d="M6 12h12"/>',
}


def icon(name: str) -> str:
    """The icon as inline SVG, as large as the text and in its colour."""
    return (
        f'<svg class="icon icon-{name}" viewBox="0 0 24 24" aria-hidden="true" fill="none" '
        f'stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round">'
        f"{PATHS[name]}</svg>"
    )
