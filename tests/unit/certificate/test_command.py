"""``hypersphere probe`` from an empty folder: what it writes, its exit status, and what it refuses before it writes."""

import json
import re
import shlex
import xml.etree.ElementTree as ET
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from hypersphere import files
from hypersphere.certificate import command, page
from hypersphere.command import cli
from hypersphere.encoders.resnet8 import resnet8
from hypersphere.provenance import stop

ROOT = Path(__file__).parents[3]
Typed = Callable[..., tuple[int, str, str]]
OURS = ("--model", "hypersphere:resnet8", "--arguments", "width=4")


@pytest.fixture
def typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Typed:
    """``typed("ours.pt", ...)``: the status, and what is printed and complained of, in a folder with one checkpoint."""
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setattr(stop, "exit_in_order", lambda: None)
    torch.manual_seed(0)
    torch.save(resnet8(width=4).state_dict(), "ours.pt")

    def type_(*words: str) -> tuple[int, str, str]:
        status = cli.main(["probe", *words])
        said = capsys.readouterr()
        return status, said.out, said.err

    return type_


class Balanced(HTMLParser):
    """Notes elements that are not closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag not in ("meta", "path", "line", "circle", "doctype"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("path", "line", "circle"):
            return
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def test_a_plain_state_dict_of_ours_becomes_a_certificate(typed: Typed) -> None:
    """The record is sealed, both pages say the same numbers, a second call finds equal ones and reads images kept."""
    given = ("ours.pt", *OURS, "--claims", "99.9", "--claims", "knn=10", "--out", "made")
    status, said, progress = typed(*given)
    assert status == 1
    assert progress.count("\n") == 3
    record = files.read_sealed(Path("made", command.RECORD))
    assert Path("made", command.MARKDOWN).read_text() == said
    shown = Path("made", command.PAGE).read_text()
    parser = Balanced()
    parser.feed(shown)
    assert (parser.wrong, parser.open) == ([], [])
    found = record["accuracies"]["this encoder"]
    for name in ("linear", "knn"):
        for text in (said, shown):
            assert page.interval(found[name]) in text
        assert found[name]["n"] == 1000
    assert "99.9 claimed" in said
    assert "The claim lies above the interval." in said
    assert "None of the 1,000 test images is among the training images" in said
    again, _, _ = typed("ours.pt", *OURS, "--out", "again")
    assert again == 0
    second = files.read_sealed(Path("again", command.RECORD))
    assert second["accuracies"] == record["accuracies"]
    assert second["checkpoint"] == record["checkpoint"]
    # the file, and nothing of where it lies
    assert str(Path.cwd()) not in json.dumps(record)


@pytest.mark.long
def test_the_page_s_first_commands_say_what_it_says(typed: Typed) -> None:
    """In an empty folder. Numbers differ between processors: the sentences around them do not."""
    text = (ROOT / "docs" / "probe.md").read_text(encoding="utf-8")
    first = text.split("```")[1].strip().splitlines()
    program, words = shlex.split(first[0])[2], shlex.split(first[1])[2:]
    exec(program, {})
    status, said, _ = typed(*words)
    assert status == 1
    shown = [
        line.removeprefix("> ").removesuffix("<br>")
        for line in text.splitlines()
        if line.startswith("> ")
    ]
    without = re.compile(r"[\d.]+ \[[\d., ]+\]")
    for sentence in shown:
        assert without.sub("…", sentence) in without.sub("…", said)


def test_the_picture_has_an_interval_for_each_number_and_a_cross_for_each_claim(
    typed: Typed,
) -> None:
    typed("ours.pt", *OURS, "--claims", "50", "--out", "made")
    text = Path("made", command.PAGE).read_text()
    svg = ET.fromstring(text[text.index("<svg") : text.index("</svg>") + len("</svg>")])
    drawn = [one.tag for one in svg]
    assert drawn.count("circle") == 6
    assert drawn.count("path") == 1
    (cross,) = svg.iter("path")
    # halfway between 0 and 100 percent
    assert float(cross.attrib["d"][1:].split()[0]) == page.LEFT + page.WIDTH / 2 - 5


@pytest.mark.parametrize(
    ("shared", "sentence"),
    [
        (0, "None of the 1,000 test images is among the training images too, byte for byte."),
        (1, "1 of the 1,000 test images is among the training images too, byte for byte."),
        (12, "12 of the 1,000 test images are among the training images too, byte for byte."),
        (None, "An earlier version prepared the images, and did not count repeated ones."),
    ],
)
def test_repeated_images_are_said(shared: int | None, sentence: str) -> None:
    test = {"splits": {"test": {"images": 1000, "in_train": shared}}}
    repeated = None if shared is None else test
    assert page.repeated({"images": {"repeated": repeated}}) == sentence


def test_the_same_weights_under_another_seed_s_start_are_told_from_it(typed: Typed) -> None:
    """The untrained network is drawn anew; a checkpoint of that very draw is level with it."""
    torch.manual_seed(0)
    _, _, _ = typed("ours.pt", *OURS, "--out", "made")
    record = files.read_sealed(Path("made", command.RECORD))
    rows = record["accuracies"]
    # the checkpoint was drawn by torch under seed 0, as the untrained network is
    assert rows["untrained"] == rows["this encoder"]
    assert record["not_above"]["linear"][0] == "untrained"


@pytest.mark.parametrize(
    ("words", "place"),
    [
        (("gone.pt", *OURS), "gone.pt: "),
        (("ours.pt", "--model", "hypersphere:resnet8"), "ours.pt: does not fit: "),
        (("text.pt", *OURS), "text.pt: is not a file of weights"),
        (("ours.pt", *OURS, "--claims", "0.9"), "--claims: "),
        (("ours.pt", *OURS, "--size", "0"), "--size: "),
        (("ours.pt", *OURS, "--threads", "-1"), "--threads: "),
        (("ours.pt", *OURS, "--dataset", "cifar11"), "--dataset: "),
        (("ours.pt", *OURS, "--normalisation", "imagnet"), "--normalisation: "),
        (("ours.pt", *OURS, "--normalisation", "1,2,3"), "--normalisation: "),
        (("ours.pt", *OURS, "--normalisation", "0,0,0,1,1,0"), "--normalisation: std.2: "),
        (("ours.pt", "--model", "hypersphere:resnet8", "--arguments", "width"), "command line: "),
        (("ours.pt", *OURS, "--prefix", "teacher."), "ours.pt: --prefix: "),
        (("wide.pt", "--model", "torchvision:vit_b_16"), "wide.pt: does not fit: "),
    ],
)
def test_bad_input_is_one_sentence_and_nothing_is_written(
    typed: Typed, words: tuple[str, ...], place: str
) -> None:
    Path("text.pt").write_text("epoch,loss\n")
    torch.save({"conv_proj.weight": torch.zeros(2)}, "wide.pt")
    before = sorted(Path().rglob("*"))
    status, said, complaint = typed(*words, "--out", "made")
    assert (status, said) == (2, "")
    assert complaint.startswith(f"hypersphere: {place}")
    assert complaint.count("\n") == 1
    assert sorted(Path().rglob("*")) == before


def test_too_many_neighbours_and_a_network_of_nan_are_refused_before_the_certificate(
    typed: Typed,
) -> None:
    status, _, complaint = typed("ours.pt", *OURS, "--neighbours", "601", "--out", "made")
    assert status == 2
    assert complaint.startswith("hypersphere: --neighbours: must be at most 600")
    Path("mine.py").write_text(
        "import torch\nfrom torch import nn\n\n"
        "class Net(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.scale = nn.Parameter(torch.ones(1))\n"
        "    def forward(self, x):\n"
        "        return (x.flatten(1) - 2).sqrt() * self.scale\n\n"
        "class Moves(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.register_buffer('scale', torch.ones(1))\n"
        "    def forward(self, x):\n"
        "        self.scale += 1\n"
        "        return x.flatten(1)\n"
    )
    torch.save({"scale": nn.Parameter(torch.ones(1))}, "mine.pt")
    status, _, complaint = typed("mine.pt", "--model", "mine.Net", "--out", "made")
    assert status == 2
    assert "mine.pt: the features of 600 of 600 images of split train are NaN" in complaint
    status, _, complaint = typed("mine.pt", "--model", "mine.Moves", "--out", "made")
    assert status == 2
    assert "--model: mine.Moves: changes its own tensors when it is used" in complaint
    assert not Path("made").exists()
