"""What trackers export: the columns are those of their own pages and functions, and the numbers are ours."""

from pathlib import Path

import pytest

from hypersphere.judging import exports
from hypersphere.judging.reading import Asked, Runs, read

from ...fixtures import Refused
from .test_reading import EXPECTED, values

FILES = {
    "the table of runs of Weights & Biases": '"Name","State","Notes","User","Tags","Created","Runtime","Sweep","seed",'
    '"method","test/acc"\n"w1","finished","-","me","","2026","10","","0","base","90.1"\n'
    '"w2","finished","-","me","","2026","11","","1","base","90.4"\n"w3","finished","-","me","","2026","12","","0",'
    '"ours","91.9"\n"w4","finished","-","me","","2026","13","","1","ours","92.1"\n'
    '"w5","crashed","-","me","","2026","13","","2","ours",""\n',
    "a chart of Weights & Biases": '"Step","base-s0 - acc","base-s0 - acc__MIN","base-s0 - acc__MAX","base-s1 - acc",'
    '"ours-s0 - acc","ours-s1 - acc"\n"1","50","50","50","51","52","53"\n"2","90.1","90","91","90.4","91.9","92.1"\n'
    '"3","","","","","",""\n',
    "the runs of MLflow": ",run_id,experiment_id,status,artifact_uri,start_time,end_time,metrics.acc,params.seed,"
    "params.method,tags.mlflow.runName\n0,a,0,FINISHED,u,1,2,90.1,0,base,r1\n1,b,0,FINISHED,u,1,2,90.4,1,base,r2\n"
    "2,c,0,FINISHED,u,1,2,91.9,0,ours,r3\n3,d,0,FINISHED,u,1,2,92.1,1,ours,r4\n4,e,0,FAILED,u,1,2,,2,ours,r5\n",
}


def found(runs: Runs) -> object:
    return {arm: values(of) for arm, of in runs.arms[""].items()}


@pytest.mark.parametrize("source", FILES)
def test_an_export_is_known_by_its_columns(source: str, tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text(FILES[source])
    runs = read(tmp_path / "runs.csv", Asked("base"))
    assert (runs.source, found(runs)) == (source, EXPECTED)
    assert runs.lost.total() == ("chart" not in source)


def test_runs_of_a_tracker_may_be_of_different_length_and_without_seeds(tmp_path: Path) -> None:
    text = "Name,State,Group,epoch,acc\na,finished,base,99,90.1\nb,finished,base,100,90.4\n"
    text += "c,finished,ours,100,91.9\nd,finished,ours,98,92.1\n"
    (tmp_path / "runs.csv").write_text(text)
    runs = read(tmp_path / "runs.csv", Asked("base"))
    assert not runs.has_seeds
    assert [list(values(of).values()) for of in runs.arms[""].values()] == [
        [90.1, 90.4],
        [91.9, 92.1],
    ]


def test_the_page_of_mlflow_has_other_columns(tmp_path: Path) -> None:
    text = (
        "Start Time,Duration,Run ID,Name,Source Type,Source Name,User,Status,seed,acc\n"
        "1,2,a,base_0,LOCAL,m.py,me,FINISHED,0,90.1\n1,2,b,base_1,LOCAL,m.py,me,FINISHED,1,90.4\n"
        "1,2,c,ours_0,LOCAL,m.py,me,FINISHED,0,91.9\n1,2,d,ours_1,LOCAL,m.py,me,FINISHED,1,92.1\n"
    )
    (tmp_path / "runs.csv").write_text(text)
    runs = read(tmp_path / "runs.csv", Asked("base"))
    assert (runs.source, found(runs)) == ("the runs of MLflow", EXPECTED)


def test_curves_of_tensorboard_are_runs_of_their_files(tmp_path: Path) -> None:
    for arm, of_seeds in EXPECTED.items():
        for seed, value in of_seeds.items():
            file = tmp_path / f"run-{arm}_seed{seed}-tag-val_acc.csv"
            file.write_text(f"Wall time,Step,Value\n1.5,0,10.5\n2.5,100,{value}\n")
    runs = read(tmp_path, Asked("base"))
    assert (runs.source, found(runs)) == ("curves of TensorBoard", EXPECTED)
    assert runs.last_steps["", "ours"] == {100.0}


def test_metrics_of_lightning_are_runs_of_their_folders(tmp_path: Path) -> None:
    for arm, of_seeds in EXPECTED.items():
        for seed, value in of_seeds.items():
            folder = tmp_path / arm / f"version_{seed}"
            folder.mkdir(parents=True)
            text = (
                f"epoch,step,train_loss,val_acc\n0,49,1.5,\n0,49,,50.5\n1,99,1.1,\n1,99,,{value}\n"
            )
            (folder / "metrics.csv").write_text(text)
    runs = read(tmp_path, Asked("base", columns={"value": "val_acc"}))
    assert (runs.source, found(runs)) == ("metrics of Lightning", EXPECTED)


def test_a_folder_of_other_files_is_refused(tmp_path: Path, refused: Refused) -> None:
    with refused("FOLDER"):
        read(tmp_path, Asked("base"))
    (tmp_path / "runs.csv").write_text("arm,seed,value\nbase,0,1\n")
    with refused("runs.csv"):
        read(tmp_path, Asked("base"))


@pytest.mark.parametrize(
    ("name", "arm", "seed"),
    [
        ("ours-seed3", "ours", "3"),
        ("ours_s12", "ours", "12"),
        ("ours/version_0", "ours", "0"),
        ("ours.run-7", "ours", "7"),
        ("ours3", "ours", "3"),
        ("ours 3", "ours", "3"),
        ("ours", "ours", ""),
        ("b", "b", ""),
    ],
)
def test_a_name_of_a_run_is_its_arm_and_its_seed(name: str, arm: str, seed: str) -> None:
    assert exports.split(name) == (arm, seed)
