"""Where a paper states a setting: the rows of hyperparameters.csv that are about a cell and a path."""

from pathlib import Path

from hypersphere.config import hyperparameters
from hypersphere.config.hyperparameters import FILE, Hyperparameter, load, source_of

from ...fixtures import Planned, Refused

HEAD = ",".join(Hyperparameter._fields[1:])


def written(folder: Path, *rows: str) -> list[Hyperparameter]:
    (folder / FILE).write_text("\n".join([HEAD, *rows, ""]))
    return load(folder)


def test_a_setting_has_the_place_of_the_row_that_is_about_its_cell(
    planned: Planned, tmp_path: Path
) -> None:
    rows = written(
        tmp_path,
        ",simclr,,cats,,batch.size,256,,as printed,Sec. 1",
        ",simsiam,,,,batch.size,512,,as printed,Sec. 2",
        ",,,,,schedule.warmup_epochs,10,,as printed,Sec. 3",
        ",,cut,,,initialisation.c,3,,as printed,Sec. 4",
        "table,,,,,schedule.epochs,100,,as printed,Table 1",
        ",,,,,schedule.epochs,100,,as printed,Sec. 5",
        "figure,,,,,views.hue,0.2,,as printed,Fig. 1",
    )
    cells = {cell.text: cell for cell in planned().cells}
    cats = cells["method=simclr;variant=cut;dataset=cats;measure=knn_top1"]
    dogs = cells["method=simclr;variant=baseline;dataset=dogs;measure=knn_top1"]
    assert source_of(rows, cats, "batch.size") == "Sec. 1"
    assert source_of(rows, dogs, "batch.size") == ""
    assert source_of(rows, cats, "schedule.warmup") == "Sec. 3"
    assert source_of(rows, cats, "initialisation") == "Sec. 4"
    assert source_of(rows, dogs, "initialisation") == ""
    assert source_of(rows, cats, "schedule.epochs") == "Table 1"
    assert source_of(rows, cats, "views.hue") == ""


def test_a_paper_without_the_file_states_nothing_and_a_wrong_file_is_refused(
    tmp_path: Path, refused: Refused
) -> None:
    assert hyperparameters.load(tmp_path) == []
    (tmp_path / FILE).write_text("path,printed\n")
    with refused(tmp_path / FILE, "line 1"):
        load(tmp_path)
