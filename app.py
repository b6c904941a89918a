"""Where a Hugging Face Space, and ``make demo``, begin."""

from earshot.app import main

if __name__ == "__main__":
    main()
