"""What is seen of a run while it trains; expected lines are typed by hand."""

import math
import os
from pathlib import Path

import pytest

from hypersphere.training import sign_of_life
from hypersphere.training.sign_of_life import HEARTBEAT, SignOfLife, described, duration

ROW = {"epoch": 3.0, "loss": 4.2109, "norm": 1.304, "learning_rate": 0.06}


class Clock:
    now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(sign_of_life, "time", clock)
    return clock


def test_a_line_has_loss_norm_rate_speed_and_time_left() -> None:
    line = described(ROW, epochs=16, images=51_200, seconds=10.0, rank=20.0)
    speed = "5,120 images a second, 2 minutes left"
    assert line == f"epoch 3 of 16: loss 4.211, norm 1.3, learning rate 0.06, {speed}"


def test_a_collapsed_encoder_is_said_and_an_unknown_rank_is_not() -> None:
    """Points that all lie in one direction have an effective rank of 1."""
    collapsed = described(ROW, 16, 51_200, 10.0, rank=1.04)
    assert collapsed.endswith("collapsed: the embeddings have an effective rank of 1.04")
    assert "collapsed" not in described(ROW, 16, 51_200, 10.0, rank=math.nan)
    assert "collapsed" not in described(ROW, 16, 51_200, 10.0, rank=2.0)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 seconds"),
        (1, "1 second"),
        (119, "119 seconds"),
        (130, "2 minutes"),
        (9000, "2 hours"),
    ],
)
def test_durations_have_the_unit_that_people_use(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_lines_are_some_seconds_apart_and_the_last_epoch_has_one(
    clock: Clock, tmp_path: Path
) -> None:
    life = SignOfLife(tmp_path, "run", epochs=16, images=64)
    assert life.due(1)
    life.tell({**ROW, "epoch": 1.0}, [{"epoch": 1, "seconds": 1.0}], 20.0)
    clock.now += sign_of_life.EVERY - 1
    assert not life.due(2)
    assert life.due(16)
    clock.now += 1
    assert life.due(3)


def test_the_heartbeat_is_recent_and_has_the_last_line(
    clock: Clock, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    life = SignOfLife(tmp_path, "run", epochs=16, images=64)
    life.beat()
    heartbeat = tmp_path / HEARTBEAT
    assert heartbeat.read_text(encoding="utf-8") == "begun\n"
    life.tell(ROW, [{"epoch": 3, "seconds": 1.0}], 20.0)
    printed = capsys.readouterr().out
    assert printed == f"run: {heartbeat.read_text(encoding='utf-8')}"
    heartbeat.unlink()
    clock.now += sign_of_life.EVERY - 1
    life.beat()
    assert not heartbeat.exists()
    clock.now += 1
    life.beat()
    assert heartbeat.exists()


def test_a_sign_of_life_is_read_with_its_age(tmp_path: Path) -> None:
    assert sign_of_life.read(tmp_path) is None
    SignOfLife(tmp_path, "run", epochs=16, images=64).beat()
    heartbeat = tmp_path / HEARTBEAT
    three_minutes_ago = heartbeat.stat().st_mtime - 180
    os.utime(heartbeat, (three_minutes_ago, three_minutes_ago))
    assert sign_of_life.read(tmp_path) == ("begun", "3 minutes")
