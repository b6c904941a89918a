"""The app: options, health, the models that are loaded, the page, and how it is served."""


def main() -> None:
    """Serve the page with the options of the command line and the environment."""
    from earshot.app import launch

    launch.main()
