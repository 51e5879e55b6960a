"""Norms paper, Table 1: steps to convergence by initial norm and penalty, in several readings of the objective."""

import pandas as pd

READINGS = {
    "square": "γ‖z_i‖², on one point of each pair (as printed)",
    "norm": "γ‖z‖, mean over all points (N1)",
    "squares": "γ‖z‖², mean over all points (ours)",
    "inner product": "-z_i · z_j + γ‖z_i‖², taken literally (ours)",
}


def rows(table: pd.DataFrame, claims: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Readings as blocks, norms in rows, penalties in columns. The paper's two readings also show the printed steps."""
    gammas = sorted(table["gamma"].unique())
    head = ["Penalty", "Initial norm", *(f"γ = {gamma:g}" for gamma in gammas)]
    printed = {
        (row["reading"], row["setting"], row["variant"]): row["reported"]
        for row in claims.to_dict("records")
        if row["kind"] == "value" and row["metric"] == "steps"
    }
    body = []
    for penalty, name in READINGS.items():
        block = table[table["penalty"] == penalty]
        for norm in sorted(block["norm"].unique()):
            line = block[block["norm"] == norm].sort_values("gamma").to_dict("records")
            cells = [
                _cell(cell) + _printed(printed.get((cell["reading"], f"norm={norm:g}", f"gamma{cell['gamma']:g}")))
                for cell in line
            ]
            body.append([name, f"{norm:g}", *cells])
    return head, body


def _cell(cell: dict[str, float]) -> str:
    if not cell["converged"]:
        return f"never (mean cosine at most {cell['highest_cosine']:.3f})"
    spread = f"{cell['mean']:.1f} ± {cell['std']:.1f} [{cell['least']:.0f}, {cell['most']:.0f}]"
    return spread if cell["converged"] == cell["n"] else f"{spread}, {cell['n'] - cell['converged']:.0f} never"


def _printed(steps: float | None) -> str:
    if steps is None:
        return ""
    return "; printed: divergence" if steps == float("inf") else f"; printed: {steps:.0f}"


def note(table: pd.DataFrame) -> str:
    """Setting, sizes, seeds, and the end of runs that never converge."""
    diverged = table[table["converged"] == 0]
    ends = "; ".join(
        f"{READINGS[str(name)].split(',')[0]}: norms near {part['end_norm'].mean():.2f}, mean cosine at most "
        f"{part['late_cosine'].max():.2f} over the second half"
        for name, part in diverged.groupby("penalty")
    )
    return (
        "500 pairs in 20 dimensions, both sets scaled and trained, rate 10, until the mean cosine exceeds 0.999: mean "
        f"± standard deviation [range] over {int(table['n'].max())} seeds. γ = 0 is not printed. Never: not within "
        f"{int(diverged['limit'].max()):,} steps. At that point: {ends}."
    )
