"""What a kind of artifact would hand over: one table, or a drawing that is a file. Processes of their own import it."""

from hypersphere.report.artifact import Grid, Head, Line, Shown, Text
from hypersphere.report.results import Results

GRID = Grid(
    (
        (Head("Photos", "measured on digits", 2), Head("Faces", "", 1)),
        (Head("ours"), Head("published"), Head("ours")),
    ),
    ("Method", "Variant"),
    (
        Line(
            ("Plain", "default"),
            (Text("60.0 ± 0.9 (2)", "baseline"), Text("56.5"), Text("not run")),
        ),
        Line(
            ("Plain", "cut"),
            (Text("64.0 ± 0.9 (2)", "+4.0 [+2.5, +5.5]"), Text("61.1"), Text("not run")),
        ),
        Line(("", "chance"), (Text("10.0"), Text("–"), Text("–")), True),
    ),
)


def stand_in(results: Results, paper: str, name: str) -> Shown:
    artifact = results.config.papers[paper].artifacts[name]
    notes = (f"Scale {results.config.scale_name} & more.", f"What {name}_ holds.")
    grid = GRID if "table" in artifact.draw else None
    return Shown(name, f"{artifact.printed or 'Ours'}: {artifact.title}", notes, grid, 3.5)
