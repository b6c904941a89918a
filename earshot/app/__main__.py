"""python -m earshot.app: the same as the command ``earshot``."""

from earshot.app import main

if __name__ == "__main__":
    main()
