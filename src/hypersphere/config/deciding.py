"""What decides the answer of a study, and the digest of it all, which records of its runs carry.

The declared plan decides, and so do the rules of all verdicts, the study's own rule and the rule of all studies of when
a comparison counts. None can change without another digest. What changed is then said in the plan (``earlier``), or the
records from before no longer count.
"""

from pathlib import Path
from typing import NamedTuple

from hypersphere import files
from hypersphere.config.bare_code import behind
from hypersphere.config.study import Study

ANSWERS = "answers.py"
"""The file beside a document's paper.yaml with a function for each study whose answer numbers cannot say."""
RULES = Path("config/statistics.yaml")
COUNTED = (
    ("answers.py", "of_study"),
    ("answers.py", "by_numbers"),
    ("measure.py", "FLOORED"),
    ("verdicts.py", "floor_of"),
    ("gather.py", "FLOORS"),
)
"""What decides in every study, by module of statistics/: what a comparison is counted as, and which arms are not shown
to be above their controls."""
STATISTICS = Path(__file__).parents[1] / "statistics"
LENGTH = 8
"""Hex digits of a digest."""


class Deciding(NamedTuple):
    """The digests of what decides a study's answer."""

    plan: str
    rules: str
    """The digest of config/statistics.yaml."""
    rule: str
    """The digest of the study's function in ``ANSWERS``; empty where numbers say it, which are in the plan."""
    counted: str

    @property
    def digest(self) -> str:
        """The digest of all four."""
        return files.digest(self._asdict(), LENGTH)


def of(root: Path, folder: Path, study: str, declared: Study) -> Deciding:
    """What decides a study of the document in ``folder``."""
    rule = "" if declared.answers.numbers else behind(folder / ANSWERS, study) or ""
    counted = [behind(STATISTICS / module, name) for module, name in COUNTED]
    return Deciding(
        plan=declared.digest,
        rules=files.digest(files.read_yaml(root / RULES), LENGTH),
        rule=files.digest(rule, LENGTH) if rule else "",
        counted=files.digest(counted, LENGTH),
    )
