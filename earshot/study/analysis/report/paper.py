"""The facts that a paper must state of a test: what was asked, of whom, about which sounds, and
what became of everybody who came.

More than 400 lines: the tables, the paragraph and both checklists state the same facts by the same
few functions.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import soundfile

from earshot.core.paths import release
from earshot.study.analysis.estimates import Table
from earshot.study.analysis.exclusions import describe_rules, in_time, undisturbed
from earshot.study.analysis.paired_comparisons import both_ways
from earshot.study.analysis.report.prose import counted
from earshot.study.analysis.report.sheets import Sheet
from earshot.study.analysis.results import Analysis, Results
from earshot.study.design import Scale, Test
from earshot.study.design.folder import VIDEOS
from earshot.study.design.model import Kind
from earshot.study.design.statements import STATEMENTS

HEADPHONE_TESTS: Final = {
    "huggins": "by Huggins' pitch",
    "antiphase": "by tones in antiphase",
    "either": "by Huggins' pitch, or by tones in antiphase at the second attempt",
    "both": "by Huggins' pitch and by tones in antiphase",
}
CALL_RATE: Final = 24_000  # Hz of the output, up to which headphones play as in a call
MAX_SOUNDS: Final = 1000  # whose heads are read for a report
UNKNOWN: Final = "not known to Earshot: write it here"
UNSTATED: Final = "not known to Earshot: the author states {what}"
TESTED: Final = (
    "95 % intervals and p-values have raters and stimuli as clusters (Cameron, Gelbach and Miller "
    "2011, by the jackknife), and p-values are corrected by Holm's method."
)
THRESHOLD: Final = (
    "The threshold is that of a logistic psychometric function fitted by maximum likelihood to the "
    "answers on all staircases, in which raters have thresholds of their own; its 95 % interval "
    "has raters as clusters."
)
HERE: Final = "here, as the author states it"
CITATION: Final = "The Earshot authors, Earshot {version}: listening tests (software)."


def facts_of_test(results: Results) -> Sheet:
    """Make the table of what was asked and played, a row for each thing that a paper reports."""
    return Sheet("The test", ["", ""], [[*row] for row in _facts_of_test(results)], text=2, names=0)


def _facts_of_test(results: Results) -> Iterator[tuple[str, str]]:
    test, answers = results.test, results.everyone.answers
    yield "Design", test.design.title
    for each in results.by_scale:
        yield each.named("Question"), each.scale.question
    if test.instructions:
        yield "Instructions", test.instructions
    for each in results.by_scale:
        yield each.named("Scale"), scale(each.scale)
    titles = {each.scale.name: each.named("Guidelines") for each in results.by_scale}
    for name, text in test.guidelines.items():
        yield titles.get(name, "Guidelines"), text
    if test.staircase:
        levels = (f"{name} ({level:g})" for name, level in test.staircase.levels.items())
        rule = f"{test.staircase.down} right in a row: harder; one wrong: easier"
        yield "Staircase", f"{', '.join(levels)} {test.staircase.unit}; {rule}"
    if test.faults:
        yield "Faults to tick", "; ".join(test.faults)
    if test.comment:
        yield "Comments", "a text on every trial, for those who want to"
    if test.show_sentence:
        yield "What is said", "shown with every sound"
    yield "Systems", ", ".join(test.conditions)
    yield "Sounds", sounds(test)
    yield "Loudness", loudness(test)
    if dates := _dates(answers):
        yield "Dates", f"{dates} (UTC)"
    if results.started:
        single, unit = results.everyone.single, results.scale.unit.capitalize()
        yield f"{unit}s of a rater", _spread(single.groupby("rater").size())
        yield f"{unit}s of a stimulus", _spread(single.groupby("stimulus").size())
    if languages := _languages(answers):
        yield "Languages of the page", languages
    yield "Other trials of a rater", _other_trials(test)
    if not test.source:
        yield "Order", _order(test)
    if test.disclosed_after:
        yield "Disclosure", "raters were told after the test that voices may be synthetic"
    if test.show_others:
        yield "Shown to raters", "at the end, how their answers lie among those of others"
    if test.break_every:
        yield "Breaks", f"asked for after every {counted(test.break_every, 'trial')}"
    if test.environment and results.started:
        yield "Room", _passed(answers, "environment")
    if results.started:
        yield "Headphones", _headphones(test, answers)
    if seen := _pictures(answers):
        yield "Videos", seen
    if played := _playback(results.everyone.answers):
        yield "Devices", played
    minutes = answers.groupby("rater")["minutes"].max().dropna()
    if len(minutes):
        yield "Minutes of a rater", f"{minutes.median():.0f} at the median, {_spread(minutes)}"
    same = results.rules == test.rules
    origin = "As in the test." if same else "CHANGED from the rules of the test."
    yield "Who is left out", f"{describe_rules(results.rules, test)} {origin}"
    if results.conduct is not None:
        looks = results.conduct.looks
        yield (
            "Results before the end",
            f"looked at {counted(looks, 'time')}" if looks else "not looked at",
        )
    ratings = f", ratings from {test.source}" if test.source else ""
    yield "Software", f"Earshot {release()}{ratings}"
    yield "To cite", CITATION.format(version=release())


def _other_trials(test: Test) -> str:
    kinds = Counter(trial.kind for trial in test.trials)
    names: dict[Kind, str] = {
        "practice": "practice trial",
        "attention": "attention check",
        "gold": "gold trial",
    }
    return ", ".join(counted(kinds[k], name) for k, name in names.items() if kinds[k]) or "none"


def _order(test: Test) -> str:
    drawn = "adaptive pairs" if test.pairing == "adaptive" else "balanced, in random order"
    drawn = "a staircase for each rater" if test.staircase else drawn
    blocks = ", in a block for each system or pair, their order balanced" if test.blocks else ""
    chance = "from random starts" if test.design.scale.adjusted else "on random sides"
    return f"{drawn}{blocks}, {chance}; seed {test.seed}"


def scale(rated: Scale) -> str:
    """Return the answers of a scale, from best to worst; without words between labelled ends."""
    if rated.typed:
        return "what raters heard, as they wrote it"
    if rated.adjusted:
        return gains(rated)
    if rated.ranked:
        return "the worst is taken out again and again, until the best is left"
    choices = (f"{value}: {word}" if word else str(value) for value, word in rated.answers)
    return "; ".join(choices) + line(rated)


def gains(rated: Scale) -> str:
    """Return the gains that raters can set."""
    low, high = rated.bounds
    return f"a gain of {low:+d} to {high:+d} dB, in steps of 1 dB from a random start"


def line(rated: Scale) -> str:
    """Return a note that the words of a scale are those of intervals of a line, where they are."""
    low, high = rated.bounds
    if not rated.scores or min(rated.numbers, default=low) <= low:
        return ""
    return f" (the upper ends of intervals of a line from {low} to {high})"


def loudness(test: Test) -> str:
    """Return how loud sounds were."""
    if test.source:
        return UNKNOWN
    return "as in the files" if test.loudness is None else f"set to {test.loudness:g} LUFS"


def sounds(test: Test) -> str:
    """Return how many sounds there are, at which rates and how long, from the files' heads."""
    if test.recordings:
        return test.recordings
    every = {path for trial in test.of_kind("trial") for path in trial.sounds.values()}
    paths = sorted(every - {Path()})
    if test.source or not paths:
        return UNKNOWN
    if kinds := {path.suffix[1:].upper() for path in paths if path.suffix.lower() in VIDEOS}:
        return f"{counted(len(paths), 'file')}, {' and '.join(sorted(kinds))}"
    heads = []
    for path in paths[:MAX_SOUNDS]:
        try:
            heads.append(soundfile.info(path))
        except (OSError, soundfile.SoundFileError):
            continue  # earshot study check names it
    if not heads:
        return f"{counted(len(paths), 'file')}, which are not here"
    rates = sorted({head.samplerate for head in heads})
    lengths = [head.duration for head in heads]
    return (
        f"{counted(len(paths), 'file')} of {_range(min(lengths), max(lengths), '.1f')} s, at "
        f"{', '.join(f'{rate / 1000:g}' for rate in rates)} kHz"
    )


def anyone(results: Results) -> bool:
    """Whether anybody has come."""
    conduct = results.conduct
    return bool(results.started or (conduct and (conduct.opened or conduct.consented)))


def flow(results: Results) -> Sheet:
    """Make the table of what became of everybody who came, a row for each way out, by rule where a
    rule did.
    """
    rows: list[tuple[str, str]] = []
    conduct = results.conduct
    if conduct is not None:
        if conduct.opened is not None:
            rows.append(("Opened the page (browsers)", str(conduct.opened)))
        room = [("Screened out by the test of their room", str(conduct.failed_environment))]
        room = room if results.test.environment else []
        rows += [
            ("Agreed to take part", str(conduct.consented)),
            ("Withdrew (their answers are deleted)", str(conduct.withdrew)),
            ("Screened out by the headphone check", str(conduct.failed_headphones)),
            *room,
            ("Screened out by attention checks", str(conduct.failed_attention)),
            ("Left, or still at it", str(conduct.unfinished)),
            ("Finished", str(conduct.finished)),
        ]
    rows.append(("Gave at least one answer", str(results.started)))
    by_rule = Counter(rule for who in results.exclusions for rule in who.rules)
    rows += [(f"Left out by rule: {rule}", str(number)) for rule, number in by_rule.items()]
    if len(by_rule) > 1:
        rows.append(("Left out by any rule", str(len(results.exclusions))))
    rows.append(("Kept", str(results.included.raters)))
    single = f"{results.scale.unit.capitalize()}s of these left out for"
    if in_time(results.rules):
        rows.append((f"{single} their time", str(results.untimely)))
    if undisturbed(results.rules):
        rows.append((f"{single} dropouts", str(results.skipped)))
    return Sheet("Who came, and who is kept", ["", "People"], rows, names=0)


def paragraph(results: Results) -> str:
    """Write a Methods paragraph to paste into a paper; what only its authors know is in
    brackets."""
    test, included, scales = results.test, results.included, results.by_scale
    answers, ratings = included.answers, sum(len(each.included.single) for each in scales)
    approved = f"approval: {test.approval}" if test.approval else "approval"
    when = f" ({dates})" if (dates := _dates(answers)) else ""
    stated = "that were stated before" if results.rules == test.rules else "chosen afterwards"
    how_many = "1 was" if len(results.exclusions) == 1 else f"{len(results.exclusions)} were"
    parts = [
        f"We ran a listening test, {test.design.source}, with {test.source or 'Earshot'}{when} "
        f"[{_recruited(test)}; {approved}].",
        *(f"Raters were asked: “{each.scale.question}” {_on(each.scale)}." for each in scales),
        f"There were {counted(len(test.systems), 'system')} and "
        f"{counted(included.stimuli, 'stimulus')} ({sounds(test)}; {loudness(test)}).",
        f"{counted(results.started, 'rater')} took part; {how_many} left out by rules "
        f"{stated}{_why(results)}, which leaves {included.raters} with "
        f"{counted(ratings, results.scale.unit)}.",
        *_checked(results.everyone.answers),
        THRESHOLD if test.staircase else TESTED,
    ]
    return " ".join(parts)


def _on(rated: Scale) -> str:
    if rated.typed:
        return "(they wrote it down)"
    if rated.adjusted:
        return f"by {gains(rated)}"
    if rated.ranked:
        return "again and again, until the best was left"
    answers = (f"{word} ({value})" if word else str(value) for value, word in rated.answers)
    return f"on a scale of {', '.join(answers)}{line(rated)}"


def checklist(results: Results) -> Sheet:
    """Fill in what Chiang, Huang and Lee (2023, Interspeech) find missing in most papers."""
    test, statements = results.test, results.test.statements
    included_answers = results.included.single
    conduct = results.conduct
    recruitment = f"a panel ({UNKNOWN})" if test.panel.link else UNKNOWN
    countries = (statements.get("countries"), _languages(results.everyone.answers))
    estimates = "a threshold" if test.staircase else "means, p-values and tests"
    rows = [
        ["Recruitment of raters", statements.get("recruitment", recruitment)],
        ["Their countries and languages", "; ".join(filter(None, countries)) or UNKNOWN],
        ["Payment", statements.get("payment", UNKNOWN)],
        ["Consent", _short(test.consent) if test.consent else UNKNOWN],
        ["Approval", test.approval or UNKNOWN],
        ["Number of raters", f"{results.included.raters} kept of {results.started}"],
        ["Selection of raters", describe_rules(results.rules, test)],
        [
            "Screened out before the end",
            UNKNOWN if conduct is None else str(conduct.screened_out),
        ],
        ["Instructions", _short(test.instructions) if test.instructions else "none"],
        *([each.named("Question"), each.scale.question] for each in results.by_scale),
        *([each.named("Scale"), scale(each.scale)] for each in results.by_scale),
        ["Sounds", sounds(test)],
        ["Number of stimuli", str(results.included.stimuli)],
        ["Ratings of a rater", _spread(included_answers.groupby("rater").size())],
        ["Ratings of a system", _spread(_of_systems(results.included))],
        # As above: of those whom the check leaves out, none would be left to count.
        ["Listening", _listening(test, results.everyone.answers)],
        ["About the raters", _about(test)],
        ["Statistics", f"{estimates}, with 95 % intervals: see Method"],
    ]
    return Sheet("What a paper should report", ["", ""], rows, text=2, names=0)


def reviewer_checklist(results: Results) -> Sheet:
    """Answer what Cooper, Le Maguer, Klabbers and Yamagishi (2025) have reviewers ask of a paper,
    in our words, each with where it stands in the report."""
    test, included = results.test, results.included
    facts, who, method = "What was asked", "Who is left out", "Method"
    started, unknown = counted(results.started, "rater"), UNKNOWN if test.source else ""
    ratings = _spread(_of_systems(included))
    languages = _languages(results.everyone.answers)
    rows = [
        ["Does the test bear on what is claimed?", *_statement(test, "claim")],
        ["Whom is the speech for, and do such people judge it?", *_statement(test, "use")],
        *(
            [each.named("The question?"), f"{each.scale.question} {_on(each.scale)}", facts]
            for each in results.by_scale
        ),
        ["What were raters told?", _short(test.instructions) or unknown or "nothing more", facts],
        ["Who were the raters?", *_statement(test, "countries", languages)],
        [
            "Are they described?",
            _about(test),
            facts if test.questions else "test.yaml, demographics",
        ],
        ["Are they fit to judge this?", *_statement(test, "qualification")],
        ["Did they hear well?", _listening(test, results.everyone.answers), facts],
        ["Did they pay attention?", unknown or _other_trials(test), facts],
        ["Who was left out, by which rules?", describe_rules(results.rules, test), who],
        [
            "Were there enough of them?",
            f"{included.raters} kept of {started}; ratings of a system: {ratings}",
            "How many more raters?",
        ],
        ["What are the systems and baselines?", *_statement(test, "systems")],
        ["How good could it have been?", _bounds(test), facts],
        ["Which speakers and sentences, and were they unseen?", *_statement(test, "material")],
        ["Were all sounds equally loud?", loudness(test), facts],
        ["Do sampling rates and lengths agree?", sounds(test), facts],
        ["Was the order of sounds random?", unknown or _order(test), facts],
        [
            "Are scores compared within one test only?",
            "in this report yes: all its scores are of the same raters and sounds",
            method,
        ],
        [
            "Are differences tested?",
            "none is: the threshold has a 95 % interval"
            if test.staircase
            else "95 % intervals; p-values corrected by Holm’s method",
            method,
        ],
        ["What of objective measures?", *_statement(test, "measures")],
        ["Can others hear and repeat it?", *_statement(test, "availability")],
    ]
    head = ["A reviewer asks", "Answer", "Where it stands"]
    caption = "A reviewer’s checklist, after Cooper et al. 2025 (arXiv 2503.03250)"
    return Sheet(caption, head, rows, text=3, names=0)


def _of_systems(analysis: Analysis) -> Table:
    """Count the ratings of each system; of a ranking, in which all are, the rankings."""
    if not analysis.scale.ranked:
        return analysis.answers.groupby("system").size()
    rated = both_ways(analysis.answers).drop_duplicates(["rater", "order", "system"])
    return rated.groupby("system").size()


def _statement(test: Test, name: str, from_raters: str = "") -> tuple[str, str]:
    """Return what the author states, with what raters say, and where it stands."""
    if text := test.statements.get(name):
        return "; ".join(filter(None, (text, from_raters))), HERE
    unstated = UNSTATED.format(what=STATEMENTS[name])
    return "; ".join(filter(None, (from_raters, unstated))), f"test.yaml, statements: {name}"


def _bounds(test: Test) -> str:
    """Name the recordings and anchors that systems are judged next to."""
    bounds = [name for name in test.conditions if name not in test.systems]
    if test.referenced:
        bounds.append("a reference that raters hear openly")
    return ", ".join(bounds) or "no reference or anchor, unless one of the systems is one"


def _recruited(test: Test) -> str:
    """Write what the author states of raters, and name what is still to be written."""
    names = {"recruitment": "recruitment", "payment": "payment", "countries": "their languages"}
    if not names.keys() & test.statements.keys():
        return "recruitment and payment of raters, their languages"
    texts = ((label, test.statements.get(name)) for name, label in names.items())
    return "; ".join(f"{label}: {text}" if text else label for label, text in texts)


def _passed(answers: Table, check: str) -> str:
    """Return how many raters passed a check of their headphones, or of their room."""
    raters = answers.drop_duplicates("rater")[check].astype("boolean")
    done = raters.dropna()
    if done.empty:
        return "not checked"
    passed = f"{int(done.sum())} of {counted(len(done), 'rater')} passed the check"
    skipped = len(raters) - len(done)
    return passed + (f", {skipped} did not do it" if skipped else "")


def _headphones(test: Test, answers: Table) -> str:
    """Return how many raters passed the check of their headphones, which one it was, where it is
    not the usual one, and whether those who failed stay."""
    parts, check = [_passed(answers, "headphones")], test.headphones
    if check:
        parts += [HEADPHONE_TESTS[check.test], *(["the short form"] if check.short else [])]
    return ", ".join([*parts, *([] if test.rules.headphones else ["no matter for who is kept"])])


def _pictures(answers: Table) -> str:
    """Return how well browsers showed the pictures of videos; nothing where there are none."""
    trials = answers.drop_duplicates(["rater", "order"])
    trials = trials[trials["frames"].notna()]
    if trials.empty:
        return ""
    frames, dropped = int(trials["frames"].sum()), int(trials["dropped_frames"].sum())
    median, high = (trials["drift"].quantile(share) for share in (0.5, 0.95))
    return (
        f"browsers dropped {dropped:,} of {frames:,} pictures; the largest distance of one from "
        f"its sound was {median:.0f} ms in the median trial, {high:.0f} ms at most in 95 %"
    )


def _playback(answers: Table) -> str:
    """Return how devices played the sounds, in the answers of everyone; nothing where no page has
    measured it."""
    trials = answers.drop_duplicates(["rater", "order"])
    measured = trials[trials["dropouts"].notna()]
    if measured.empty:
        return ""
    lost = f"{measured['lost_sound'].sum() / 1000:.1f} s"
    kinds = {
        f"they skipped in {{}}, with {lost} of sound lost": measured["dropouts"] > 0,
        "stood still in {}": measured["stalls"] > 0,
        "had their page hidden while a sound played in {}": measured["hidden"] > 0,
        f"played as in a call ({CALL_RATE // 1000} kHz or less) in {{}}": (
            measured["rate"] <= CALL_RATE
        ),
    }
    parts = [
        text.format(_share_of(measured, which)) for text, which in kinds.items() if which.any()
    ]
    number = f"{len(measured)} of {counted(len(trials), 'answer')}"
    return f"{', '.join(parts) or 'none skipped'}; measured in {number}"


def _share_of(answers: Table, which: Table) -> str:
    raters = answers.loc[which, "rater"].nunique()
    return f"{counted(int(which.sum()), 'answer')} of {counted(raters, 'rater')}"


def _checked(answers: Table) -> Iterator[str]:
    """Yield what raters' headphones and rooms were found to be, where they were checked."""
    for name, check in (("Headphones", "headphones"), ("The quiet of rooms", "environment")):
        if answers[check].notna().any():
            yield f"{name}: {_passed(answers, check)}."


def _listening(test: Test, answers: Table) -> str:
    checked = [f"headphones: {_headphones(test, answers)}"]
    if test.environment:
        checked.append(f"room: {_passed(answers, 'environment')}")
    return UNKNOWN if test.source else "; ".join(checked)


def _about(test: Test) -> str:
    """Name what raters were asked about themselves; the replies are in the table of raters."""
    questions = [each.wording(test.language)[0] for each in test.questions]
    return f"{' '.join(questions)} (replies in raters.csv)" if questions else UNKNOWN


def _why(results: Results) -> str:
    by_rule = Counter(rule for who in results.exclusions for rule in who.rules)
    text = ", ".join(f"{rule}: {number}" for rule, number in by_rule.items())
    return f" ({text})" if text else ""


def _short(text: str) -> str:
    return text if len(text) <= 300 else f"{text[:299]}…"


def _dates(answers: Table) -> str:
    days = sorted({day for day in answers["started"].dropna().astype(str) if day})
    return _range(days[0], days[-1]) if days else ""


def _languages(answers: Table) -> str:
    raters = answers.drop_duplicates("rater")
    counts = Counter(name for name in raters["language"].dropna() if name)
    return ", ".join(f"{name}: {counted(number, 'rater')}" for name, number in counts.most_common())


def _spread(counts: Table) -> str:
    return _range(int(counts.min()), int(counts.max())) if len(counts) else "none"


def _range(low: object, high: object, form: str = "") -> str:
    ends = format(low, form), format(high, form)
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
