"""The file that a new test starts from."""

from earshot.study.design.designs import DESIGNS, SAME, Design

HEAD = """\
# A listening test. "python -m earshot study check" says what is still missing.

title: {title}
design: {design}    # {designs}

# Where the sounds are: * stands for the stimulus, and must find the same ones for every system.
systems:
  ours: ours/*.wav
  baseline: baseline/*.wav
"""
AGAINST = """\
# Without it, all pairs of systems are compared; with it, each system with the reference.
# reference: reference/*.wav
"""
REST = """
# How many trials a rater gets; all without this line. Every trial is rated equally often.
# trials: 20
# Trials to begin with that do not count.
practice: 1
# All sounds are brought to this loudness (LUFS); without the line they stay as they are.
loudness: -23
# The order of everything is drawn from this.
seed: 1

question: {question}
instructions: |
  Wear headphones and sit somewhere quiet.
  Listen to every recording as often as you like, then answer.
# Shown before anything else; raters must agree. Say who asks, why, and whom to write to.
consent: |
  Your answers are stored without your name or address, and used for research.
  You can stop at any time, and have your answers deleted.

# Questions about raters, none of which has to be answered; a test of whether their room is quiet
# enough (ITU-T P.808); and after how many trials they are asked to rest.
# demographics: true
# environment: true
# break_every: 20

# Recordings that say what to answer, to see who listens, and trials whose answer is known. With
# tolerance: 1 with expected, an answer may be off by so much.
{checks}"""
CHECK = """\
# {kind}:
#   - sounds: {sounds}{reference}{expected}
"""
NOT_PREFERRED = "no_preference: true    # whether raters may prefer neither\n"


def template(design: Design) -> str:
    """Write the YAML of a test with this design, to be filled in."""
    parts = [HEAD.format(title="My listening test", design=design.name, designs=" ".join(DESIGNS))]
    if design.referenced:
        parts.append(f"# {design.about_reference}\nreference: reference/*.wav\n")
    elif design.paired:
        parts.append(AGAINST)
    if SAME in dict(design.scale.answers):
        parts.append(NOT_PREFERRED)
    sounds = "[checks/first.wav, checks/second.wav]" if design.paired else "checks/one.wav"
    answer = design.example
    checks = [
        CHECK.format(
            kind=kind,
            sounds=sounds,
            reference="\n#     reference: checks/reference.wav" if design.referenced else "",
            expected=f"\n#     expected: {answer}    # of the first sound" if answer else "",
        )
        for kind in ("attention", "gold")
    ]
    parts.append(REST.format(question=design.scale.question, checks="".join(checks)))
    return "".join(parts)
