"""python -m pipelines.sound_search index FOLDER: see pipelines.sound_search.scan."""

from pipelines.sound_search.scan import main

if __name__ == "__main__":
    main()
