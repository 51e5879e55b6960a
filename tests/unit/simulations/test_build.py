"""What `hypersphere simulate` writes: a table for each artifact, answers and checksums, the same at every scale."""

from pathlib import Path

import pandas as pd
import pytest
import yaml

from hypersphere.declared import config as cfg
from hypersphere.declared import plan as planning
from hypersphere.declared.plan import Plan
from hypersphere.errors import DamagedError, HypersphereError
from hypersphere.integrity.manifest import check_tidy
from hypersphere.present.results import Results
from hypersphere.simulations import build
from hypersphere.simulations.study import COLUMNS, Context, counted, effect, exactly, over_seeds

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def root(config_root: Path) -> Path:
    """The released config and claims."""
    (config_root / "paper").symlink_to(ROOT / "paper")
    return config_root


def made(root: Path, **overrides: object) -> Plan:
    """The lecture's studies, run."""
    plan = planning.make(root, {"papers": ["lecture"], **overrides})
    build.build(plan, "lecture")
    return plan


def folder(plan: Plan) -> dict[str, bytes]:
    """Files of the lecture's studies by name."""
    return {path.name: path.read_bytes() for path in (plan.config.results / "simulations" / "lecture").iterdir()}


def test_a_table_for_each_artifact_answers_and_a_manifest(root: Path) -> None:
    plan = made(root)
    artifacts = plan.config.studied("lecture")
    assert set(folder(plan)) == {*(f"{name}.csv" for name in artifacts), "answers.csv", "manifest.json"}
    answers = pd.read_csv(plan.config.results / "simulations" / "lecture" / "answers.csv")
    assert list(answers) == COLUMNS
    assert set(answers["study"]) == {declared.study for declared in artifacts.values()}


def test_the_same_bytes_at_every_scale(root: Path) -> None:
    quick, changed, paper = made(root), made(root, epochs=3), made(root, scale="paper")
    assert len({plan.config.results for plan in (quick, changed, paper)}) == 3
    assert folder(quick) == folder(changed) == folder(paper)


def test_an_altered_table_is_refused_and_made_again_by_the_next_run(root: Path) -> None:
    plan = made(root)
    name = next(iter(plan.config.studied("lecture")))
    path = plan.config.results / "simulations" / "lecture" / f"{name}.csv"
    path.write_bytes(path.read_bytes().replace(b"1", b"2", 1))
    with pytest.raises(DamagedError, match=rf"{name}\.csv: the file's bytes are not those of its manifest"):
        Results(plan.config).simulated("lecture", name)
    with pytest.raises(DamagedError):
        check_tidy(plan.config.results, f"simulations/lecture/{name}.csv")


def test_what_artifacts_ask_for_and_what_a_study_hands_over_must_agree(root: Path) -> None:
    file = root / "config" / "papers" / "lecture.yaml"
    paper = yaml.safe_load(file.read_text())
    study = {"kind": "study_table", "title": "t", "study": "entropy_limits"}
    wanted = {key: value for key, value in paper["artifacts"].items() if value.get("study") == "entropy_limits"}
    file.write_text(yaml.safe_dump(paper | {"artifacts": wanted | {"extra": study}}))
    with pytest.raises(HypersphereError, match=r"entropy_limits\.py: does not hand over extra, which .*lecture\.yaml"):
        made(root)
    (first, declared), *rest = wanted.items()
    file.write_text(yaml.safe_dump(paper | {"artifacts": dict(rest)}))
    with pytest.raises(HypersphereError, match=rf"hands over, and no artifact of .*lecture\.yaml asks for, {first}"):
        made(root)
    assert declared["study"] == "entropy_limits"


def test_no_such_paper_and_no_such_study_are_one_sentence(root: Path) -> None:
    with pytest.raises(HypersphereError, match="'nobody' is not one of lecture"):
        build.build(planning.make(root, {"papers": ["lecture"]}), "nobody")
    file = root / "config" / "papers" / "lecture.yaml"
    file.write_text(file.read_text().replace("study: entropy_limits", "study: entropy", 1))
    with pytest.raises(
        HypersphereError, match=r"lecture\.yaml: artifacts\.\w+\.study: 'entropy' is not one of .*entropy_l"
    ):
        planning.make(root, {"papers": ["lecture"]})


def test_answers_say_what_their_numbers_are() -> None:
    rows = build._rows(
        "s", [over_seeds("a", [3, float("inf")]), effect("b", [1.5], [0.5, 2]), counted("c", 3, 4, "N1")]
    )
    assert [tuple(row.values()) for row in rows] == [
        ("s", "a", "as printed", "seeds", 0, "3"),
        ("s", "a", "as printed", "seeds", 1, "inf"),
        ("s", "b", "as printed", "variant", 0, "1.5"),
        ("s", "b", "as printed", "baseline", 0, "0.5"),
        ("s", "b", "as printed", "baseline", 1, "2"),
        ("s", "c", "N1", "held", 0, "3"),
        ("s", "c", "N1", "places", 0, "4"),
    ]
    with pytest.raises(ValueError, match="not a number"):
        build._rows("s", [exactly("a", float("nan"))])


def test_a_study_that_needs_data_is_left_out_where_there_is_none(root: Path, tmp_path: Path) -> None:
    """At quick nothing is downloaded; a data_root with torchvision's sets alone has no human labels."""
    settings = {"papers": ["embedding_norms"]}

    def studied(**more: object) -> set[str]:
        return set(cfg.load(root, {**settings, **more}).studied("embedding_norms"))

    everything = studied(scale="paper")
    assert everything - studied() == {"human_labels"}
    data = tmp_path / "sets"
    data.mkdir()
    assert studied(scale="paper", data_root=str(data)) == studied()
    (data / "human").mkdir()
    assert studied(scale="paper", data_root=str(data)) == everything


def test_a_study_runs_by_itself(root: Path) -> None:
    study = build.run("entropy_limits", Context(cfg.load(root, {"papers": ["lecture"]}), "lecture"))
    assert study.tables
    assert study.answers
