"""Floors and effects of printed accuracies; expected counts and z are computed here with the textbook formula, one cell
at a time."""

import csv
import math
from collections.abc import Callable, Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hypersphere.audit import chance
from hypersphere.audit.table import Cell
from hypersphere.config.claims import Claim
from hypersphere.simulations.binomial_floor import compute as study
from hypersphere.simulations.study import Context, Study

from ..printed import table as printed_table

ROOT = Path(__file__).parents[3]
FIELDS = (
    *("id", "kind", "origin", "artifact", "method", "variant", "baseline", "dataset", "setting", "metric", "reported"),
    *("reported_std", "reading", "sentence", "source"),
)
IMAGES = {"cifar10": 10_000, "cifar100": 10_000, "imagenet100": 5_000, "tiny_imagenet": 10_000, "stl10": 8_000}
Cells = dict[tuple[str, str], dict[str, float]]


def of_table(paper: str, artifact: str, variants: tuple[str, ...] = (), datasets: tuple[str, ...] = ()) -> Cells:
    """Printed accuracies by method and variant and by dataset; all, or those of some variants and datasets."""
    rows = {
        tuple(str(name).split(".")): row
        for name, row in printed_table(paper, artifact, "method.variant", "dataset").items()
    }
    return {
        (method, variant): {str(name): value for name, value in row.items() if not datasets or name in datasets}
        for (method, variant), row in rows.items()
        if not variants or variant in variants
    }


NORMS = {
    "Table 4": of_table("embedding_norms", "table4"),
    "Table 6": of_table("embedding_norms", "table6"),
    "Table S3": of_table("embedding_norms", "tableS3"),
}
TRANSFERS = {"tiny_imagenet": "tiny_imagenet_to_stl10", "stl10": "stl10_to_tiny_imagenet"}
MARGINS = {
    "Table 2": of_table("margins", "table2", ("baseline", "ratio", "margins", "pos"), ("cifar10", "stl10")),
    "Table 3": {
        key: {TRANSFERS[dataset]: accuracy for dataset, accuracy in row.items()}
        for key, row in of_table("margins", "table3", ("baseline", "ratio"), tuple(TRANSFERS)).items()
    },
}
AT_007 = printed_table("double_metric", "table5a", "objective.temperature", "variant")[0.07]
TWICE = {  # one setting in two tables
    "Table 2": of_table("double_metric", "table2", ("nt_xent", "dm3"), ("cifar10",)),
    "Table 5a": {("simclr", loss): {"cifar10": AT_007[loss]} for loss in ("nt_xent", "dm3")},
}
Make = Callable[..., Study]


@pytest.fixture
def made(tmp_path: Path) -> Make:
    """The study of a paper of which only the given cells are printed."""

    def make(paper: str, tables: dict[str, Cells], **readings: str) -> Study:
        file = tmp_path / "config" / "papers" / paper / "claims.csv"
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("w", encoding="utf-8", newline="") as handle:
            writer = csv.DictWriter(handle, FIELDS, restval="")
            writer.writeheader()
            for table, cells in tables.items():
                for (method, variant), row in cells.items():
                    for dataset, accuracy in row.items():
                        trained_on, _, target = dataset.partition("_to_")
                        setting = f"target={target}" if target else "batch.size=256"
                        cell = {"method": method, "variant": variant, "dataset": trained_on, "reported": accuracy}
                        cell |= {"id": f"{table}.{method}.{variant}.{dataset}", "kind": "value", "setting": setting}
                        cell |= {"artifact": table.lower().replace(" ", ""), "metric": "linear_top1", "source": table}
                        reading = readings.get(f"{variant}_{dataset}", "as printed")
                        origin = "printed" if reading == "as printed" else "corrected"
                        writer.writerow(cell | {"origin": origin, "reading": reading})
        return study.binomial_floor(context(tmp_path, paper))

    return make


def context(root: Path, paper: str) -> Context:
    declared = SimpleNamespace(studied=("binomial_floor", "binomial_effects"))
    file = root / "config" / "papers" / paper / "claims.csv"
    config: Any = SimpleNamespace(claims_file={paper: file}.__getitem__, papers={paper: declared})
    return Context(config, paper)


def z(new: float, old: float, images: int) -> float:
    return (new - old) / math.sqrt((new * (100 - new) + old * (100 - old)) / images)


def answers(found: Study) -> dict[tuple[str, str], tuple[float, float]]:
    return {(a.id, a.reading): (a.arms["held"][0], a.arms["places"][0]) for a in found.answers}


def test_n45_counts_of_effects_within_the_floors(made: Make) -> None:
    """6 of 11, 3 of 6 and 3 of 5 by the erratum; the failed run is no effect."""
    found = made("embedding_norms", NORMS, gradscale_imagenet100="N40")
    expected = {}
    for table, cells in NORMS.items():
        scores = [
            z(accuracy, cells[method, "default"][dataset], IMAGES[dataset])
            for (method, variant), row in cells.items()
            if variant != "default"
            for dataset, accuracy in row.items()
            if accuracy != 1.0
        ]
        expected[table] = (sum(score < 1.96 for score in scores), len(scores), max(scores))
    assert {table: value[:2] for table, value in expected.items()} == {
        "Table 4": (6, 11), "Table 6": (3, 6), "Table S3": (3, 5),
    }  # fmt: skip
    for row in found.tables["binomial_floor"].to_dict("records"):
        within, effects, furthest = expected[str(row["table"])]
        assert (row["within"], row["effects"]) == (within, effects)
        assert row["furthest"] == pytest.approx(furthest, abs=1e-9)
    assert answers(found) == {("norms.binomial_floor.final", "as printed"): expected["Table 4"][:2]}


def test_d9_one_setting_printed_twice_differs_by_five_errors(made: Make) -> None:
    found = made("double_metric", TWICE)
    effects = found.tables["binomial_effects"].set_index(["table", "variant"])
    again = effects.loc[("Tables 2 and 5", "nt_xent")]
    dm3, first = (TWICE["Table 2"]["simclr", loss]["cifar10"] for loss in ("dm3", "nt_xent"))
    assert again["difference"] == -2.91
    assert again["z"] == pytest.approx(z(AT_007["nt_xent"], first, 10_000), abs=1e-9)
    assert again["z"] == pytest.approx(-5.09, abs=0.005)
    assert effects.loc[("Table 2", "dm3"), "z"] == pytest.approx(z(dm3, first, 10_000), abs=1e-9)
    within = found.tables["binomial_floor"].set_index("table")["within"]
    assert within["Tables 2 and 5"] == 0
    assert list(found.tables["binomial_floor"]["table"]) == ["Table 2", "Table 5a", "Tables 2 and 5"]


def test_a_transfer_is_tested_on_its_target(made: Make) -> None:
    effects = made("margins", MARGINS).tables["binomial_effects"].set_index(["method", "setting", "variant"])
    for dataset, target, images in (("tiny_imagenet", "stl10", 8_000), ("stl10", "tiny_imagenet", 10_000)):
        new, old = (MARGINS["Table 3"]["mocov3", variant][TRANSFERS[dataset]] for variant in ("ratio", "baseline"))
        expected = pytest.approx(z(new, old, images), abs=1e-9)
        assert effects.loc[("mocov3", f"target={target}", "ratio"), "z"] == expected


def cells_of(claims: Iterable[Claim]) -> list[Cell]:
    return [cell for cell, _ in study.cells(claims)]


def test_rows_that_differ_by_a_swept_setting_are_held_against_its_least() -> None:
    """As in the margins paper's Table 9: s of 10 and 20 against 1, in one setting."""
    rows = {"1": 91.0, "10": 92.25, "20": 92.5}
    cells = cells_of(
        printed("Table 9", "cifar10", "linear_top1", "pos", value, f"logits.s={s};schedule.epochs=1000")
        for s, value in rows.items()
    )
    effects = study.markers(study.effects(cells)).set_index("variant")
    assert effects["difference"].to_dict() == {"logits.s=10": 1.25, "logits.s=20": 1.5}
    assert set(effects["setting"]) == {"schedule.epochs=1000"}


def test_simclrs_gains_are_within_the_floors_and_mocos_are_not(made: Make) -> None:
    """The paper's "does not significantly improve": SimCLR's + pos. is +0.04 and +0.10, MoCo v3's +1.25 and +2.73."""
    claim = "margins.binomial_floor.simclr_pos"
    assert answers(made("margins", MARGINS))[claim, "as printed"] == (2, 2)
    moco = {("simclr", variant): MARGINS["Table 2"]["mocov3", variant] for variant in ("baseline", "pos")}
    cells = {key: row for key, row in MARGINS["Table 2"].items() if key[0] != "simclr"} | moco
    assert z(moco["simclr", "pos"]["cifar10"], moco["simclr", "baseline"]["cifar10"], 10_000) > 1.96
    assert answers(made("margins", {"Table 2": cells}))[claim, "as printed"] == (0, 2)


def printed(artifact: str, dataset: str, metric: str, variant: str, reported: float, setting: str = "") -> Claim:
    cell = {"id": "c", "kind": "value", "artifact": artifact, "source": artifact, "reading": "as printed"}
    cell |= {"setting": setting}
    return Claim.model_construct(
        **cell, method="simclr", dataset=dataset, metric=metric, variant=variant, reported=reported, reported_std=None
    )


def test_accuracies_of_unknown_test_size_are_counted_and_have_no_floor() -> None:
    """MultiDigits' size is not printed, a contrastive accuracy is no share of images, and a norm is no accuracy."""
    cells = cells_of(
        [
            printed("Table 3", "multidigits", "linear_top1", "default", 99.5),
            printed("Table 3", "multidigits", "linear_top1", "in_grid", 98.3),
            printed("Table 5", "imagenet", "contrastive_top1", "plain_tau_10", 91.7),
            printed("Table 5", "imagenet", "linear_top1", "plain_tau_10", 57.2),
            printed("Table 5", "imagenet", "linear_top1", "normalised_tau_1", 58.0),
            printed("Table 6", "cifar10", "norm", "default", 81.0),  # without a deviation: no cell
        ]
    )
    table = study.summary(cells, study.markers(study.effects(cells))).set_index("table")
    assert list(table.index) == ["Table 3", "Table 5"]
    assert table[["cells", "unknown", "effects"]].to_numpy().tolist() == [[0, 2, 0], [2, 1, 1]]
    assert math.isnan(float(table.loc["Table 3", "floor"]))
    assert table.loc["Table 5", "furthest"] == pytest.approx(z(58.0, 57.2, 50_000), abs=1e-9)


def test_a_table_says_how_many_would_be_beyond_by_chance(made: Make) -> None:
    """Table 4 of the norms paper: 5 of 11 beyond their error, 0.55 by chance."""
    found = made("embedding_norms", NORMS, gradscale_imagenet100="N40").tables
    row = found["binomial_floor"].set_index("table").loc["Table 4"]
    assert row["by_chance"] == pytest.approx(0.55, abs=0.001)
    assert row["p_as_many"] == pytest.approx(chance.as_many_by_chance(5, 11))
    assert set(found["binomial_effects"]["by_chance"]) == {chance.by_chance(11 + 6 + 5)}


def test_tables_stand_in_the_order_of_their_numbers() -> None:
    shown = ["Table S2", "Table 10", "Table 5b", "Tables 2 and 5", "Table A.3", "Table 2", "Table 5a", "Table 10"]
    expected = ["Table 2", "Table 5a", "Table 5b", "Table 10", "Table A.3", "Table S2", "Tables 2 and 5"]
    assert study.in_order(shown) == expected


def test_table_5_of_the_norms_paper_as_it_is_in_the_repository() -> None:
    """None of nine within the floors (N45); Flowers102 has 1,020 images, so its floor is the widest."""
    found = study.binomial_floor(context(ROOT, "embedding_norms"))
    row = found.tables["binomial_floor"].set_index("table").loc["Table 5"]
    assert (row["cells"], row["effects"], row["within"]) == (15, 9, 0)
    assert row["furthest"] == pytest.approx(z(61.7, 47.0, 10_000), abs=1e-9)
    effects = found.tables["binomial_effects"]
    effects = effects[effects["table"] == "Table 5"].set_index(["method", "variant", "dataset"])
    flowers = effects.loc[("simclr", "gradscale", "flowers102_lt")]
    assert flowers["z"] == pytest.approx(z(47.2, 42.6, 1_020), abs=1e-9) == pytest.approx(2.09, abs=0.005)
    assert flowers["error"] == effects["error"].max()


@pytest.mark.parametrize("paper", sorted(study.SENTENCES))
def test_every_sentence_whose_tables_are_in_the_repository_has_places(paper: str) -> None:
    found = study.binomial_floor(context(ROOT, paper))
    there = set(found.tables["binomial_floor"]["table"])
    for sentence in study.SENTENCES[paper]:
        assert there.issuperset(sentence.tables)
        assert answers(found)[sentence.claim, "as printed"][1] > 0
