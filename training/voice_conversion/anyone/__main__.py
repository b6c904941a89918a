"""python -m training.voice_conversion.anyone prepare|train: see --help of each."""

from training.commands import commands


def main() -> None:
    """Parse the command line and run one stage, which imports what it needs."""
    arguments = commands("voice_conversion.anyone")[0].parse_args()
    if arguments.command == "prepare":
        from training.corpora import data_root
        from training.voice_conversion.anyone.prepare import prepare

        prepare(data_root(arguments.data), arguments.out)
    elif arguments.command == "train":
        from training.voice_conversion.anyone.recipe import RECIPE

        for name in arguments.names or RECIPE:
            RECIPE[name](arguments.out, name)


if __name__ == "__main__":
    main()
