"""Workers that crash, hang or lie cost one message, and the next file is read as before."""

import io
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from earshot.core.cancellation import Job, running
from earshot.core.errors import InputError, StoppedError
from earshot.core.paths import ROOT
from earshot.media.audio.load import load, wav_bytes
from earshot.media.video import frames
from earshot.media.workers import pool
from earshot.media.workers.pool import Worker
from earshot.media.workers.processes import LENGTH, Answers, Pool, WorkerError, send, send_array
from tests.support.videos import write_pictures

pytestmark = pytest.mark.slow

Workers = Pool[Worker]
WAV = wav_bytes(np.sin(np.arange(16_000)), 16_000)
OPTIONS = {"max_seconds": 60.0, "mono": True}


@pytest.fixture
def worker() -> Iterator[Worker]:
    process = Worker()
    yield process
    process.close()


@pytest.fixture
def video(tmp_path: Path) -> Path:
    noise = np.random.default_rng(0).integers(0, 255, (50, 240, 320, 3), np.uint8)
    return write_pictures(tmp_path / "noise.mp4", noise)


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[Workers]:
    """A pool of this test's own."""
    workers = Pool(Worker, pool.MAX_WORKERS, pool.MAX_IDLE)
    monkeypatch.setattr(pool, "_pool", workers)
    yield workers
    workers.close()


def test_stream_after_crash_says_so(fresh: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next file is read as before."""
    ask = Worker.ask

    def crash(worker: Worker, *args: object) -> Iterator:
        worker.process.kill()
        worker.process.wait()
        return ask(worker, *args)  # type: ignore[arg-type]

    load(WAV)
    with monkeypatch.context() as patch:
        patch.setattr(Worker, "ask", crash)
        with pytest.raises(InputError, match="cannot be decoded"):
            load(WAV)
    assert load(WAV).seconds == 1.0


def test_stream_reuses_worker_of_good_file(fresh: Workers) -> None:
    """A file that is no sound leaves it in use, too."""
    load(WAV)
    first = fresh.take()
    fresh.give_back(first, healthy=True)
    with pytest.raises(InputError, match="cannot be read as audio"):
        load(b"no sound" * 100)
    load(WAV)
    assert fresh.take() is first
    first.close()


def test_frames_left_midway_spare_next_video(video: Path, fresh: Workers) -> None:
    seen = frames(video, 30)
    next(seen)
    del seen
    assert len(list(frames(video, 30))) == 50


def test_frames_of_two_videos_stay_apart(video: Path, fresh: Workers) -> None:
    """The videos are read at once."""
    for one, other in zip(frames(video, 30), frames(video, 30), strict=True):
        assert one.time == other.time
        assert np.array_equal(one.image, other.image)


def test_frames_of_a_stopped_job_end(video: Path, fresh: Workers) -> None:
    job = Job(60)
    with running(job):
        seen = frames(video, 30)
        next(seen)
        job.stop()
        with pytest.raises(StoppedError):
            list(seen)


def test_take_waits_for_free_worker(fresh: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fresh, "max_workers", 1)
    busy, done = fresh.take(), []
    waiting = threading.Thread(target=lambda: done.append(fresh.take()))
    waiting.start()
    waiting.join(0.2)
    assert not done
    fresh.give_back(busy, healthy=True)
    waiting.join(10)
    assert done == [busy]
    busy.close()


def test_worker_cannot_lift_its_limits(worker: Worker) -> None:
    list(worker.ask("audio", WAV, OPTIONS))
    limits = Path(f"/proc/{worker.process.pid}/limits").read_text().splitlines()
    of = {line[:26].strip(): line[26:].split()[:2] for line in limits}
    assert of["Max address space"] == [str(1536 * 2**20)] * 2
    assert of["Max file size"] == ["0", "0"]
    assert int(of["Max cpu time"][0]) < 100


def test_worker_loads_no_model_library() -> None:
    """It ends with the app."""
    script = (
        "import sys; import earshot.media.workers.__main__;"
        "print({'torch', 'librosa', 'scipy', 'gradio', 'cv2'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert (run.returncode, run.stdout.strip()) == (0, "set()"), run.stderr
    process = Worker().process
    assert process.stdin
    process.stdin.close()
    assert process.wait(30) == 0
    assert process.stdout
    process.stdout.close()


def test_load_from_elsewhere_finds_worker(tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_bytes(WAV)
    script = f"import sys; sys.path.append({str(ROOT)!r});" + (
        "from earshot.media.audio.load import load; print(load('a.wav').seconds)"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True
    )
    assert (run.stdout.strip(), run.stderr) == ("1.0", "")


def test_stream_in_fork_has_own_workers(fresh: Workers) -> None:
    load(WAV)
    child = os.fork()
    if child == 0:
        os._exit(int(load(WAV).seconds != 1.0))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert load(WAV).seconds == 1.0


def test_worker_that_cannot_start_is_bug(fresh: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is not to blame for it."""
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(RuntimeError, match="No decoding worker"):
        load(WAV)


def test_failed_start_takes_no_place(fresh: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the machine has no process, or file, left for a moment."""
    with monkeypatch.context() as patch:
        patch.setattr(fresh, "start", Path("/").read_bytes)
        for _ in range(pool.MAX_WORKERS + 1):
            with pytest.raises(OSError):
                load(WAV)
    assert load(WAV).seconds == 1.0


def test_wait_for_worker_ends_with_job(fresh: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fresh, "max_workers", 0)
    with running(Job(0.1)), pytest.raises(StoppedError, match="took longer"):
        load(WAV)


def answered(write: bytes, seconds: float = 5.0) -> tuple[dict, np.ndarray | None]:
    """What is read of a worker that writes this, and goes on."""
    out, into = os.pipe()
    with os.fdopen(out, "rb") as pipe, os.fdopen(into, "wb") as end:
        end.write(write)
        end.flush()
        return Answers(pipe, seconds).next()


def message(header: dict, array: np.ndarray | None = None) -> bytes:
    buffer = io.BytesIO()
    send(buffer, header) if array is None else send_array(buffer, header, array)
    return buffer.getvalue()


def test_array_answers_are_read_as_sent() -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    header, read = answered(message({"time": 0.5}, array))
    assert header["time"] == 0.5
    assert read is not None and np.array_equal(read, array)


@pytest.mark.parametrize(
    "lie",
    [
        LENGTH.pack(2**31),
        LENGTH.pack(4) + b"\x00\xff{}",
        message({"dtype": "object", "shape": [1]}),
        message({"dtype": "float32", "shape": [2**20, 2**20]}),
        message({"dtype": "uint8", "shape": [-1]}),
        message({"dtype": "uint8", "shape": "x"}),
    ],
)
def test_answers_of_lying_worker_are_refused(lie: bytes) -> None:
    with pytest.raises(WorkerError):
        answered(lie)


def test_hanging_worker_is_not_waited_for() -> None:
    with pytest.raises(WorkerError, match="late"):
        answered(b"\x00", seconds=0.2)
