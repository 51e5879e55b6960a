"""How long a rebuild still takes, judged by the time that jobs of each kind took so far. It reads no clock itself."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from hypersphere.declared.batching import BatchOfRuns
from hypersphere.declared.plan import Plan

TARGETS = ("all", "reproduce", "data", "runs")
"""Rules that only collect files and take no time."""
FAMILIES = ("artifact", "simulate", "studies")
"""Kinds with a rule for each artifact or paper: ``artifact_margins_table2``."""
PRIORS = {
    **{"prepare": 8.0, "theory": 6.0, "studies": 16.0, "evaluate_pixels": 10.0, "artifact": 9.0, "pretrain": 60.0},
    **{"simulate": 7.0, "simulate_embedding_norms": 100.0, "simulate_lmcl": 49.0},
    **{"evaluate": 24.0, "claims": 17.0, "scorecard": 13.0, "paper": 14.0},
}
"""Seconds of a job, by its rule or its kind, until one of its kind has finished: means of `make reproduce` at quick on
two shared x86-64 cores (torch 2.13, Python 3.11), from the start and end times that Snakemake records."""
START = 7.0
"""Seconds before a job that imports torch begins its work; measured with PRIORS."""
PER_EPOCH = 1.5
"""Seconds of one epoch of one run; measured with PRIORS."""
PER_TABLE = 2.0
"""Seconds of one protocol on one run; measured with PRIORS."""
SHOWN_FROM = 0.05
"""Share of the expected work after which the time left is shown."""


def kind_of_job(rule: str) -> str:
    """The kind of job that a rule makes: ``artifact`` for ``artifact_margins_table2``."""
    return next((kind for kind in FAMILIES if rule.startswith(f"{kind}_")), rule)


def expected_seconds(plan: Plan) -> dict[tuple[str, str], float]:
    """Seconds expected of the jobs of each batch, by rule and batch: more runs, epochs or protocols take longer."""
    seconds = {}
    for batch in plan.batches:
        seconds["pretrain", batch.id] = START + PER_EPOCH * sum(run.schedule.epochs for run in batch.runs)
        seconds["evaluate", batch.id] = START + PER_TABLE * _protocols(plan, batch)
    return seconds


def _protocols(plan: Plan, batch: BatchOfRuns) -> int:
    return sum(len(plan.asked[run.name]) for run in batch.runs)


def _prior(rule: str) -> float:
    return PRIORS.get(rule, PRIORS.get(kind_of_job(rule), START))


@dataclass
class Job:
    """A job at work. Times are in seconds, of whatever clock the caller reads."""

    kind: str
    expected: float
    """Seconds by ``PRIORS`` or ``expected_seconds``."""
    started: float


@dataclass
class Progress:
    """Which jobs are done, at work and still to start."""

    expected: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """Seconds expected of a job, by rule and batch."""
    total: int = 0
    done: int = 0
    waiting: Counter[str] = field(default_factory=Counter)
    """Jobs still to start, by rule."""
    running: dict[int, Job] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    """Seconds that finished jobs took, by kind."""
    predicted: dict[str, float] = field(default_factory=dict)
    """Seconds that were expected of the same jobs, by kind."""
    started_names: set[tuple[str, str]] = field(default_factory=set)
    first_start: float | None = None

    def plan(self, rules: Mapping[str, int]) -> None:
        """Take over the number of jobs of each rule."""
        self.waiting = Counter({rule: count for rule, count in rules.items() if rule not in (*TARGETS, "total")})
        self.total = self.waiting.total()

    def start(self, job: int, rule: str, name: str, now: float) -> None:
        """Note that a job has started; ``name`` is its batch."""
        if rule in TARGETS:
            return
        self.first_start = now if self.first_start is None else self.first_start
        self.running[job] = Job(kind_of_job(rule), self.expected.get((rule, name), _prior(rule)), now)
        self.started_names.add((rule, name))
        self.waiting[rule] -= 1

    def finish(self, job: int, now: float) -> float:
        """Note that a job has finished, and return its seconds."""
        finished = self.running.pop(job)
        kind, seconds = finished.kind, now - finished.started
        self.seconds[kind] = self.seconds.get(kind, 0.0) + seconds
        self.predicted[kind] = self.predicted.get(kind, 0.0) + finished.expected
        self.done += 1
        return seconds

    def fail(self, job: int) -> None:
        """Note that a job has failed; its time says nothing about others."""
        self.running.pop(job, None)

    def left(self, now: float) -> float | None:
        """Seconds until all is done; None where too little is done to tell."""
        if not self.running and not sum(self.seconds.values()):
            return None
        at_work = self.running.values()
        running = [max(0.0, self._factor(job.kind, now) * job.expected - now + job.started) for job in at_work]
        counts = {rule: count for rule, count in self.waiting.items() if count > 0}
        waiting = [
            (count, self._factor(kind_of_job(rule), now) * self._mean_expected(rule)) for rule, count in counts.items()
        ]
        work = sum(running) + sum(count * each for count, each in waiting)
        busy = self._busy(now)
        if busy < SHOWN_FROM * (busy + work):
            return None
        return max([work / self._parallel(now), *running, *(each for _, each in waiting)])

    def _factor(self, kind: str, now: float) -> float:
        """How much longer jobs of a kind take than expected: by those that finished, or else by those at work."""
        if kind in self.predicted:
            return self.seconds[kind] / self.predicted[kind]
        at_work = [(now - job.started) / job.expected for job in self.running.values() if job.kind == kind]
        return max([1.0, *at_work])

    def _mean_expected(self, rule: str) -> float:
        """Seconds expected of a job that has not started."""
        known = [seconds for key, seconds in self.expected.items() if key[0] == rule and key not in self.started_names]
        return sum(known) / len(known) if known else _prior(rule)

    def _busy(self, now: float) -> float:
        """Seconds that jobs have worked, finished ones and those at work."""
        return sum(self.seconds.values()) + sum(now - job.started for job in self.running.values())

    def _parallel(self, now: float) -> float:
        """How many jobs were at work at a time, on average."""
        elapsed = now - (self.first_start or 0.0)
        return max(1.0, self._busy(now) / elapsed) if elapsed > 0 else 1.0


def clock(seconds: float) -> str:
    """Minutes and seconds, and hours if there are any: ``1:05``, ``2:00:10``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
