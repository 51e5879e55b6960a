"""The words of a first look: its lines in the console, and its page, data/rates/<device>.md."""

from collections.abc import Mapping, Sequence
from typing import Any

from hypersphere.speed.stopwatch import PARTS
from hypersphere.wording import count_of

Row = Mapping[str, Any]

HEAD = """\
# First look at {device}

`hypersphere first-look` wrote this page, with PyTorch {torch} and {threads}. It trained on random images for a few \
steps: the page says how fast runs are, and nothing of what they learn.
"""
REACHED = "{reached} of {kinds} kinds of runs were reached, beginning with the most hours."
RATES = """
## Steps

Shares are parts of a step, each waited for. `idle` is the share in which the card waited for the host. Memory is the \
most that PyTorch held, beside what `hypersphere cost --memory` predicts.

| run | network | batch | ms a step | images a second | TFLOP/s | of peak | views | forward | backward | update | idle \
| GB | predicted | equal bytes | resumed to equal bytes |
| --- | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --- | --- |"""
COMPARED = """
## Other ways

How many times as fast a step is otherwise, against a deterministic step in float32 in turn with it; below 1 it is \
slower. One run: {run}.

| way | times as fast |
| --- | --: |"""
FAILED = "\n## Not measured\n"


def text(about: Row, rows: Sequence[Row], ways: Sequence[Row], kinds: int) -> str:
    """The page."""
    threads = count_of(about["threads"], "thread")
    lines = [HEAD.format(device=about["device"], torch=about["torch"], threads=threads)]
    lines.append(REACHED.format(reached=len(rows), kinds=kinds))
    measured = [row for row in rows if "milliseconds" in row]
    if measured:
        lines.append(RATES)
        lines += [_of_rate(row) for row in measured]
    if ways:
        lines.append(COMPARED.format(run=ways[0]["run"]))
        lines += [f"| {row['compared']} | {row['times'] or row['note']} |" for row in ways]
    failed = [row for row in rows if row["note"]]
    if failed:
        lines.append(FAILED)
        lines += [f"- {row['run']}: {row['note']}" for row in failed]
    return "\n".join(lines) + "\n"


def _of_rate(row: Row) -> str:
    """A row of the page's table."""
    parts = [row[part] for part in PARTS if part not in ("draws", "rest")]
    values = [
        row["run"],
        row["network"],
        row["batch"],
        row["milliseconds"],
        row["images_a_second"],
        row["tflops"],
        row["peak_share"],
        *parts,
        row["idle"],
        row["memory_gb"],
        row["predicted_gb"],
        row.get("equal", ""),
        row.get("resumed", ""),
    ]
    return f"| {' | '.join(map(str, values))} |"


def line(row: Row) -> str:
    """What the console shows of a rate."""
    if row["note"]:
        return f"{row['run']}: {row['note']}"
    rate = f"{row['milliseconds']} ms a step, {row['images_a_second']} images a second"
    return f"{row['run']}: {rate}, {row['tflops'] or '?'} TFLOP/s"


def repeated(row: Row) -> str:
    """What it shows of bytes."""
    if row["note"]:
        return f"{row['run']}: {row['note']}"
    return f"{row['run']}: equal bytes: {row['equal']}; resumed to equal bytes: {row['resumed']}"


def compared(row: Row) -> str:
    """What it shows of another way."""
    return f"{row['compared']}: {row['note'] or row['times'] + ' times as fast'}"
