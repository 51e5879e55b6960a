"""Tables: what a cell says, and that none is shown without its scale, its controls and the published number."""

import csv
import io
import re
from typing import Any

import pytest

from hypersphere.errors import DamagedError, HypersphereError
from hypersphere.integrity.manifest import tidy_manifest
from hypersphere.present import table

FOLDER = "tables/embedding_norms"


def rows_of(text: str) -> list[dict[str, str]]:
    """The lines of a csv."""
    return list(csv.DictReader(io.StringIO(text)))


def test_markdown_shows_mean_std_n_effect_interval_and_published_number(quick: Any) -> None:
    text = quick.read(f"{FOLDER}/table5.md")
    line = next(line for line in text.splitlines() if line.startswith("| SimCLR | cut (c=3)"))
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[2:4] == ["64.0 ± 0.9 (5)<br>+4.0 [+2.5, +5.5]", "61.1"]
    assert cells[6:8] == ["not run", "61.6"]


def test_markdown_is_a_table_with_one_cell_per_column(quick: Any) -> None:
    lines = [line for line in quick.read(f"{FOLDER}/table5.md").splitlines() if line.startswith("|")]
    assert len({line.count("|") for line in lines}) == 1
    assert len(lines) == 2 + 5 + 3


def test_controls_stand_under_the_rows(quick: Any) -> None:
    lines = [line for line in quick.read(f"{FOLDER}/table5.md").splitlines() if line.startswith("| *control*")]
    assert [re.findall(r"\*([^*]+)\*", line)[1:3] for line in lines] == [
        ["chance", "10.0"],
        ["raw pixels", "41.2"],
        ["untrained encoder", "35.5 ± 0.8 (5)"],
    ]


@pytest.mark.parametrize("ending", ["md", "tex"])
@pytest.mark.parametrize("name", ["table5", "table5_linear", "table5_transfer"])
def test_every_table_says_scale_n_device_protocol_and_that_it_is_no_reproduction(
    quick: Any, name: str, ending: str
) -> None:
    text = quick.read(f"{FOLDER}/{name}.{ending}")
    for part in ("quick", "Not a reproduction", "n = 5", "device cpu", "SimCLR 30 epochs, batch 64", "ResNet-8"):
        assert part in text


def test_published_scale_does_not_say_that_it_is_no_reproduction(published: Any) -> None:
    text = published.read(f"{FOLDER}/table5.md")
    assert "Not a reproduction" not in text
    assert "batch 1024 (4 × 256)" in text


def test_stand_in_datasets_are_named_only_where_they_stand_in(quick: Any, published: Any) -> None:
    assert "CIFAR-10 unb.<br>measured on digits_lt" in quick.read(f"{FOLDER}/table5.md")
    assert "measured on" not in published.read(f"{FOLDER}/table5.md")


def test_a_table_that_the_original_does_not_print_has_no_published_column(quick: Any) -> None:
    assert "**published**" in quick.read(f"{FOLDER}/table5.md")
    assert "**published**" not in quick.read(f"{FOLDER}/table5_linear.md")


def test_transfer_names_both_datasets(quick: Any) -> None:
    text = quick.read(f"{FOLDER}/table5_transfer.md")
    assert "CIFAR-10 unb. → CIFAR-100 unb.<br>measured on digits_lt → turned_digits_lt" in text


def test_csv_has_one_row_per_cell_and_full_precision(make: Any) -> None:
    made = make(shift=1 / 3)
    table.build(made.config, "embedding_norms", "table5")
    rows = rows_of(made.read(f"{FOLDER}/table5.csv"))
    assert len(rows) == 8 * 3
    first = rows[0]
    assert float(first["mean"]) == pytest.approx(60 + 1 / 3, abs=1e-12)
    assert (first["row"], first["dataset"], first["measured_on"]) == ("simclr.default", "cifar10_lt", "digits_lt")
    assert (first["published"], first["scale"], first["effect"], first["n"]) == ("56.5", "quick", "", "5")
    assert rows[2]["mean"] == rows[2]["measured_on"] == ""


def test_tex_rows_have_as_many_cells_as_columns_and_balanced_braces(quick: Any) -> None:
    text = quick.read(f"{FOLDER}/table5.tex")
    specification = re.search(r"\\begin\{tabular\}\{(\w+)\}", text)
    assert specification is not None
    body = text[text.index(r"\toprule") : text.index(r"\bottomrule")]
    for line in body.splitlines():
        if line.endswith(r"\\"):
            spans = [int(width) - 1 for width in re.findall(r"\\multicolumn\{(\d)\}", line)]
            assert len(re.findall(r"(?<!\\)&", line)) + 1 + sum(spans) == len(specification[1]), line
    bare = re.sub(r"\\[{}]", "", text)
    assert bare.count("{") == bare.count("}")


def test_tex_escapes_everything_that_tex_would_read() -> None:
    assert table.escape("a_b & 5% ± −1 {x} $ # ~ ^ \\") == (
        r"a\_b \& 5\% $\pm$ $-$1 \{x\} \$ \# \textasciitilde{} \textasciicircum{} \textbackslash{}"
    )


def test_tex_has_no_unescaped_special_and_no_character_beyond_ascii(quick: Any) -> None:
    text = quick.read(f"{FOLDER}/table5_transfer.tex")
    assert r"digits\_lt" in text
    assert re.search(r"(?<!\\)[_#]", text.replace("tab:embedding_norms-table5_transfer", "")) is None
    assert text.isascii()


def test_diverged_runs_are_said_not_averaged(make: Any) -> None:
    made = make()
    rows = [dict(row) for row in made.rows["summary"]]
    for row in rows:
        if (row["metric"], row["final"], row["dataset"]) == ("knn_top1", True, "cifar10_lt"):
            if row["variant"] == "gradscale":
                row.update(mean="", std="", n=0, low="", high="", n_diverged=5)
            if row["variant"] == "cut3":
                row.update(n=3, n_diverged=2)
    made.replace("summary", rows)
    table.build(made.config, "embedding_norms", "table5")
    text = made.read(f"{FOLDER}/table5.md")
    assert "| SimCLR | GradScale (p=1) | diverged" in text
    assert "64.0 ± 0.9 (3; 2 diverged)" in text


def test_wrong_names_and_missing_files_are_one_sentence(make: Any) -> None:
    made = make()
    with pytest.raises(HypersphereError, match="'norms_over_epochs' is not a table of this paper"):
        table.build(made.config, "embedding_norms", "norms_over_epochs")
    with pytest.raises(HypersphereError, match="'m' is not one of margins, lmcl, embedding_norms"):
        table.build(made.config, "m", "table2")
    summary = made.config.results / "statistics" / "summary.csv"
    made.edit("statistics/summary.csv", "n_diverged", "diverged_n")
    with pytest.raises(HypersphereError, match=r"summary\.csv: column n_diverged is missing"):
        table.build(made.config, "embedding_norms", "table5")
    summary.unlink()
    with pytest.raises(HypersphereError, match=r"summary\.csv: the file is missing"):
        table.build(made.config, "embedding_norms", "table5")
    assert not (made.config.results / "tables").exists()


@pytest.mark.parametrize("name", ["statistics/summary.csv", "claims.csv"])
def test_an_altered_tidy_table_is_refused_and_made_again_by_the_next_run(make: Any, name: str) -> None:
    made = make()
    path, proof = made.config.results / name, tidy_manifest(made.config.results / name)
    table.build(made.config, "embedding_norms", "table5")  # the control: unaltered it is taken
    path.write_text(path.read_text(encoding="utf-8").replace("64", "65", 1), encoding="utf-8")
    with pytest.raises(DamagedError, match=f"{path.name}: the file's bytes are not those of its manifest") as caught:
        table.build(made.config, "embedding_norms", "table5")
    assert caught.value.proof == proof
