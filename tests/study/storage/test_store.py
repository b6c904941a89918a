"""What the store keeps, gives back and forgets, in SQLite and in PostgreSQL."""

import contextlib
import shutil
import sqlite3
import threading
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import text, update

from earshot.core.errors import InputError
from earshot.study.analysis.exclusions import screen
from earshot.study.design import DESIGNS, Answer, Item, Test
from earshot.study.design.raters import Question, Rules
from earshot.study.design.spec import load
from earshot.study.storage import store as module
from earshot.study.storage import tables
from earshot.study.storage.answers import RATING_COLUMNS
from earshot.study.storage.database import MAX_LOG, StoreRemovedError
from earshot.study.storage.export import lines
from earshot.study.storage.raters import MAX_IDLE, NoPlaceError
from earshot.study.storage.store import MAX_ANSWERS, Rater, StaleAnswerError, Store
from earshot.study.storage.tables import RaterRow
from tests.support.stimuli import make_folder, noise
from tests.support.studies import any_answer, enrol, make_test


def take(store: Store, test: Test, rater: Rater, number: int | None = None) -> None:
    for item in rater.items[:number]:
        store.answer(test, rater.token, item.order, *any_answer(test, item), 1500)


def test_store_is_found_from_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process has another working directory."""
    test = make_test()
    monkeypatch.chdir(tmp_path)
    store = Store("sqlite:///mine.db")
    take(store, test, enrol(store, test))
    monkeypatch.chdir("/")
    assert len(Store(store.url, upgrade=False).ratings(test)) > 0
    assert Store("sqlite://").url == "sqlite://"


def test_resume_restores_what_was_done(store: Store) -> None:
    """It restores items, answers and the headphone check."""
    test = make_test(trials=5)
    rater = enrol(store, test)
    assert rater.next == rater.items[0] and not rater.finished and rater.headphones is None
    assert len(rater.items) == 5 + 3 and len(rater.token) >= 16
    store.screen(test, rater.token, "headphones", False)
    take(store, test, rater, 3)
    for again in (store.resume(test, rater.token), enrol(store, test, rater.token)):
        assert again and again.items == rater.items and again.id == rater.id
        assert again.answered == {0, 1, 2} and again.next == rater.items[3]
        assert again.headphones is False and again.code == rater.code
    take(store, test, rater)
    finished = store.resume(test, rater.token)
    assert finished and finished.finished and finished.next is None
    assert store.resume(test, "somebody else's token") is None


@pytest.mark.parametrize("there", [True, False])
def test_skipped_check_has_failed(store: Store, there: bool) -> None:
    """A script tells checks by their sound, and skips them; that the server lacks a sound is no
    rater's fault."""
    test = make_test()
    rater = enrol(store, test)
    for item in rater.items:
        if test.trials[item.trial].kind == "attention":
            store.skip(test, rater.token, item.order, 0, there=there)
        else:  # 1 is what the gold trial expects
            store.answer(test, rater.token, item.order, 1, any_answer(test, item)[1], 1500)
    exclusions = screen(test, store.ratings(test), Rules(failed_checks=0.4))
    assert len(exclusions) == there
    screening = replace(test, panel=replace(test.panel, returns={"attention": "SECRET"}))
    other = enrol(store, screening)
    check = next(item for item in other.items if test.trials[item.trial].kind == "attention")
    assert store.skip(screening, other.token, check.order, 0, there=there) is None
    resumed = store.resume(screening, other.token)
    assert resumed and (resumed.outcome == "attention") == there


def test_store_opened_again_has_the_answers(url: str) -> None:
    test = make_test()
    rater = enrol(Store(url), test)
    take(Store(url), test, rater)
    assert len(Store(url).ratings(test)) == len(rater.items)
    assert Store(url).open(test) == Store(url).open(test)


def test_answer_replaces_only_one_it_knew(store: Store) -> None:
    """A tab that was left open replaces no answer."""
    test = make_test()
    rater = enrol(store, test)
    for value, version in ((2, 0), (2, 0), (4, 1)):  # the second is the first, sent again
        store.answer(test, rater.token, 0, value, [3], 900, version=version)
    for version in (0, 1, 3):  # of a tab that was left open
        with pytest.raises(StaleAnswerError, match="another tab"):
            store.answer(test, rater.token, 0, 5, [1], 900, version=version)
    table = store.ratings(test)
    assert list(table["answer"]) == [4.0] and list(table["plays"]) == [3]
    items = list(lines(test, store))[1]["rater"]["items"]
    assert items[0]["version"] == 2 and [each["answer"] for each in items[0]["changes"]] == [2]


def test_answer_after_completion_code_is_refused(store: Store) -> None:
    test = make_test()
    rater = enrol(store, test)
    take(store, test, rater)
    code = store.answer(test, rater.token, 0, *any_answer(test, rater.items[0]), 1500)
    assert code, "what is sent again gets the code again"
    with pytest.raises(StaleAnswerError):
        store.answer(test, rater.token, 0, 1, [1], 900, version=1)


def test_skip_goes_on_without_answer(store: Store) -> None:
    """The organiser is told of it, and too many are refused."""
    test = make_test()
    rater = enrol(store, test)
    scored = [item for item in rater.items if test.trials[item.trial].kind == "trial"]
    first, second, third = scored[:3]
    rest = [item for item in rater.items if item not in scored[:3]]
    store.skip(test, rater.token, first.order, 0, there=False)
    store.skip(test, rater.token, second.order, 0, there=True)
    store.skip(test, rater.token, second.order, 0, there=True)
    with pytest.raises(InputError, match="Too many sounds"):
        store.skip(test, rater.token, third.order, 0, there=True)
    for item in (third, *rest):
        code = store.answer(test, rater.token, item.order, *any_answer(test, item), 900)
    assert code and len(store.ratings(test)) == len(rater.items) - 2
    assert set(store.ratings(test)["finished"]) == {True}
    trial = test.trials[first.trial]
    assert store.missing(test)[trial.stimulus, first.systems[0]] >= 1
    assert sum(store.missing(test).values()) == 2


def test_changes_of_answer_are_limited(store: Store) -> None:
    test = make_test()
    rater = enrol(store, test)
    for version in range(MAX_ANSWERS):
        store.answer(test, rater.token, 0, 1 + version % 5, [1], 900, version=version)
    with pytest.raises(InputError, match="too often"):
        store.answer(test, rater.token, 0, 3, [1], 900, version=MAX_ANSWERS)
    item = list(lines(test, store))[1]["rater"]["items"][0]
    assert len(item["changes"]) == MAX_ANSWERS - 1


def test_question_has_one_reply(store: Store) -> None:
    """It has one each time that it is asked, and none after closing."""
    often = Question({"": "Tired?"}, "between", 3, {"": ("no", "yes")})
    test = make_test(questions=(Question({"": "Age?"}), often))
    rater = enrol(store, test)
    for trials in range(5):
        store.reply(test, rater.token, 0, trials, f"reply {trials}")
    for trials in (3, 6, 9, 12):
        store.reply(test, rater.token, 1, trials, 1)
    for trials in (0, 4, 15, 2**31 - 1):
        with pytest.raises(InputError, match="no such question"):
            store.reply(test, rater.token, 1, trials, 1)
    replies = list(lines(test, store))[1]["rater"]["replies"]
    assert [each["reply"] for each in replies] == ["reply 4", 1, 1, 1, 1]
    store.close(test.name)
    with pytest.raises(NoPlaceError):
        store.reply(test, rater.token, 0, 0, "late")


def test_exchanged_sound_is_noticed(store: Store, tmp_path: Path) -> None:
    """A sound may be exchanged until a rater begins."""
    folder = make_folder(tmp_path / "t", loudness=-30)
    store.open(load(folder))
    noise(folder / "ours" / "one.wav", level=0.02)  # nobody has heard the first
    enrol(store, load(folder))
    store.open(load(folder))
    (folder / "theirs" / "one.wav").rename(tmp_path / "away.wav")
    store.open(load(folder))
    (tmp_path / "away.wav").rename(folder / "theirs" / "one.wav")
    noise(folder / "ours" / "one.wav", level=0.03)
    with pytest.raises(InputError, match=r"not those that raters have answered \(ours/one.wav\)"):
        store.open(load(folder))
    noise(folder / "ours" / "one.wav", level=0.02)
    store.open(load(folder))
    make_folder(tmp_path / "t", loudness=-29)
    noise(folder / "ours" / "one.wav", level=0.02)
    with pytest.raises(InputError, match="loudness -30"):
        store.open(load(folder))


@pytest.mark.parametrize(
    ("order", "answer", "plays"),
    [(99, 3, [1]), (0, 6, [1]), (0, True, [1]), (0, "a", [1]), (0, [3], [1]), (0, 3, [1, 1])],
)
def test_answer_that_is_invalid_is_refused(
    store: Store, order: int, answer: Answer, plays: list[int]
) -> None:
    test = make_test()
    rater = enrol(store, test)
    with pytest.raises(InputError, match="no such trial|Send"):
        store.answer(test, rater.token, order, answer, plays, 900)
    with pytest.raises(InputError, match="Nobody with this link"):
        store.answer(test, "nobody's", 0, 3, [1], 900)
    assert store.ratings(test).empty


@pytest.mark.parametrize("design", DESIGNS)
def test_ratings_have_row_for_each_sound(store: Store, design: str) -> None:
    test = make_test(design)
    rater = enrol(store, test)
    store.screen(test, rater.token, "headphones", True)
    take(store, test, rater)
    enrol(store, test)  # who has answered nothing is not in the table
    table = store.ratings(test)
    sounds = {"mushra": 6, "ranking": 3}.get(design, 1)
    assert list(table.columns) == list(RATING_COLUMNS)
    assert len(table) == len(rater.items) * sounds
    assert set(table["rater"]) == {rater.id} and rater.token not in table.to_csv()
    assert set(table["kind"]) == {"trial", "practice", "attention", "gold"}
    checks = table.dropna(subset=["expected"])
    assert sorted(checks["kind"]) == ["attention", "gold"] and set(checks["expected"]) == {1.0}
    assert set(table["finished"]) == set(table["headphones"]) == {True}
    assert min(table["answer"]) > -4 and min(table["plays"]) >= 1
    assert list(table["order"]) == sorted(table["order"])


def test_ratings_of_unanswered_test_have_columns(store: Store) -> None:
    assert list(store.ratings(make_test()).columns) == list(RATING_COLUMNS)


def test_withdraw_deletes_answers_and_frees_trials(store: Store) -> None:
    test = make_test(trials=4, stimuli=4)
    gone = enrol(store, test)
    take(store, test, gone)
    store.screen(test, gone.token, "headphones", True)
    store.withdraw(test, gone.token)
    assert store.ratings(test).empty
    left = store.resume(test, gone.token)
    assert left and left.withdrawn and left.items == () and left.headphones is None
    assert not left.finished
    assert enrol(store, test, gone.token).withdrawn
    with pytest.raises(InputError, match="Nobody with this link"):
        store.answer(test, gone.token, 0, 3, [1], 900)
    others = [enrol(store, test) for _ in range(3)]  # who get 4 of the 12 each
    scored = {trial.id for trial in test.of_kind("trial")}
    assert scored <= {item.trial for each in others for item in each.items}


def test_enrol_reassigns_trials_of_abandoned_session(store: Store) -> None:
    """Others get its unanswered trials only, and who comes back finds it as it was."""
    test = make_test(trials=6)
    slow = enrol(store, test)
    take(store, test, slow, 4)
    scored = {trial.id for trial in test.of_kind("trial")}
    answered = {item.trial for item in slow.items[:4]} & scored
    with store.engine.execution_options(write=True).begin() as connection:
        connection.execute(update(RaterRow).values(seen=datetime.now() - MAX_IDLE - timedelta(1)))
    other = enrol(store, test)  # 6 of the 12, and at least 8 have no answer
    assert not {item.trial for item in other.items} & answered
    assert len(store.ratings(test)) == 4
    back = store.resume(test, slow.token)
    assert back and back.items == slow.items and back.next == slow.items[4]


def test_open_of_changed_test_raises(store: Store) -> None:
    """Its texts may change."""
    test = make_test()
    store.open(test)
    assert store.open(replace(test, title="Better said")) == store.open(test)
    with pytest.raises(InputError, match="Nobody has begun it: give the changed test another name"):
        store.open(make_test(systems=4))
    with pytest.raises(InputError, match="another name"):
        enrol(store, make_test(stimuli=5))
    enrol(store, test)
    with pytest.raises(InputError, match="not those that raters have answered: give the changed"):
        store.open(make_test(systems=4))


def test_token_is_unknown_to_other_tests(store: Store) -> None:
    first, second = make_test(), make_test(name="other")
    one = enrol(store, first, "the-same-panel-number")
    assert store.resume(second, one.token) is None
    assert enrol(store, second, one.token).id != one.id


def test_database_lacks_tokens_and_withdrawn_answers(
    tmp_path: Path,
) -> None:
    store = Store(f"sqlite:///{tmp_path / 'answers.db'}")
    test = make_test("mushra")
    rater = enrol(store, test)
    item = rater.items[0]
    store.answer(test, rater.token, item.order, [17] * 6, [7654321] * 7, 7654321)
    store.withdraw(test, rater.token)
    with store.engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM items")).scalar() == 0
    store.engine.dispose()  # the log of SQLite is put away with the last connection
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert rater.token.encode() not in content and b"7654321" not in content


def test_enrol_in_large_test_blocks_nobody(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another test goes on while the order of its trials is drawn."""
    small, large = make_test(name="small"), make_test(name="large")
    rater = enrol(store, small)
    drawing, go_on, draw = threading.Event(), threading.Event(), module.assign

    def slowly(test: Test, counts: Mapping[int, int], number: int) -> list[Item]:
        if test.name == "large":
            drawing.set()
            assert go_on.wait(30)
        return draw(test, counts, number)

    monkeypatch.setattr(module, "assign", slowly)
    new = threading.Thread(target=enrol, args=[store, large])
    new.start()
    assert drawing.wait(30)
    take(store, small, rater, 2)
    enrol(store, small)
    assert new.is_alive(), "all of this is while the other test's sequence is drawn"
    go_on.set()
    new.join()
    assert store.raters("large") == 1


def test_enrol_from_two_stores_stays_balanced(url: str) -> None:
    test = make_test(trials=3)
    stores = [Store(url), Store(url)]
    stores[0].open(test)
    with ThreadPoolExecutor(8) as pool:
        raters = list(pool.map(lambda n: enrol(stores[n % 2], test), range(24)))
    counts = Counter(item.trial for rater in raters for item in rater.items)
    assert {counts[trial.id] for trial in test.of_kind("trial")} == {24 * 3 // 12}


def test_answer_without_database_is_not_acknowledged(tmp_path: Path) -> None:
    """A database that is deleted while the store is open is not made anew."""
    store, test = Store(f"sqlite:///{tmp_path / 'answers.db'}"), make_test()
    rater = enrol(store, test)
    for path in tmp_path.glob("answers.db*"):
        path.unlink()
    with pytest.raises(StoreRemovedError, match="restart the server"):
        take(store, test, rater, 1)
    assert not (tmp_path / "answers.db").exists()


def test_answer_with_early_clock_is_stored(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock was set back by an hour."""
    test = make_test()
    rater = enrol(store, test)
    earlier = tables.now() - timedelta(hours=1)
    monkeypatch.setattr(tables, "now", lambda: earlier)
    store.answer(test, rater.token, 0, *any_answer(test, rater.items[0]), 900, least=5)
    with pytest.raises(InputError, match="before its sounds"):
        store.answer(test, rater.token, 1, *any_answer(test, rater.items[1]), 900, least=5)


def test_deleted_test_takes_nobody(store: Store) -> None:
    """Somebody had opened its page before, and consents now; the organiser's page is open too."""
    test = make_test()
    token = enrol(store, test).token
    store.delete(test.name)
    for late in (partial(store.enrol, test), partial(store.enrol, test, token)):
        with pytest.raises(NoPlaceError, match="was deleted"):
            late()
    with pytest.raises(NoPlaceError, match="was deleted"):
        store.look(test)
    assert store.raters(test.name) == 0 and store.looks(test) == []
    assert enrol(store, test, token).items  # opened again, it is new


def test_delete_leaves_only_other_tests(store: Store) -> None:
    gone, stays = make_test(name="gone"), make_test(name="stays")
    for test in (gone, stays):
        take(store, test, enrol(store, test))
    store.delete("gone")
    assert store.raters("gone") == 0 and len(store.ratings(gone)) == 0
    assert store.raters("stays") == 1 and len(store.ratings(stays)) > 0


def test_copied_file_holds_answers(tmp_path: Path) -> None:
    """Of a store that is used it lacks the last answers at most, and none of one that was closed:
    what is only in the log beside it is copied by nobody."""
    test, store = make_test(stimuli=40), Store(f"sqlite:///{tmp_path / 'answers.db'}")
    assert (tmp_path / "answers.db").stat().st_mode & 0o077 == 0
    rater = enrol(store, test)

    def copied() -> int:
        shutil.copyfile(tmp_path / "answers.db", tmp_path / "copy.db")
        return len(Store(f"sqlite:///{tmp_path / 'copy.db'}").ratings(test))

    assert copied() == 0  # it has tables from the beginning
    take(store, test, rater, 100)
    assert copied() >= 100 - MAX_LOG
    store.dispose()
    assert copied() == 100
    take(store, test, rater, 101)  # and may be used again


def test_file_without_its_log_is_refused(tmp_path: Path) -> None:
    """It would be taken for a new one, and other raters' answers begin in it."""
    file = tmp_path / "answers.db"
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    with pytest.raises(InputError, match=r"copied without answers\.db-wal"):
        Store(f"sqlite:///{file}")
    file.write_bytes(b"")  # nothing was ever in it
    assert Store(f"sqlite:///{file}").raters("mine") == 0


def test_backup_is_whole_while_raters_go_on(tmp_path: Path) -> None:
    test, store = make_test(), Store(f"sqlite:///{tmp_path / 'answers.db'}")
    rater = enrol(store, test)
    take(store, test, rater, 3)
    store.back_up(tmp_path / "to" / "copy.db")
    take(store, test, rater, 5)
    copy = tmp_path / "to" / "copy.db"
    assert len(Store(f"sqlite:///{copy}").ratings(test)) == 3
    assert copy.stat().st_mode & 0o077 == 0
    for wrong in (store, Store("sqlite://")):
        with pytest.raises(InputError, match="name another file|pg_dump"):
            wrong.back_up(tmp_path / "answers.db")
    assert len(store.ratings(test)) == 5
