"""The learning rates of the norms paper."""

import pandas as pd

from hypersphere.report.studies import Layout

CURVES = {
    "stated": "as stated, over 500 epochs",
    "stated, ends early": "as stated, over 100 epochs",
    "authors": "authors' scheduler",
}
METHODS = {"simsiam": "SimSiam", "simclr": "SimCLR", "gradscale": "SimCLR with GradScale"}


def learning_rates(table: pd.DataFrame, claims: pd.DataFrame) -> Layout:
    """Norms paper, App. C.1 and Table S2: the learning rate as stated, and as the authors' scheduler gives it."""
    head = ["Method", "Batch", "Schedule", "Highest rate", "× 256 / batch", "Warm-up (epochs)"]
    head += ["Area by epoch 100", "Table S2, epoch 100", "Table S2, epoch 500"]
    body = []
    for row in table.to_dict("records"):
        numbers = [f"{row['rate']:.3g}", f"{row['per_256']:.3g}", f"{row['warmup']:.1f}", f"{row['mass']:.0f}"]
        accuracies = [f"{row[name]:.1f}" if row[name] > 0 else "" for name in ("knn_100", "knn_500")]
        body.append([METHODS[row["method"]], str(row["batch"]), CURVES[row["curve"]], *numbers, *accuracies])
    note = (
        "Computed from the text and from the authors' released code, for the mean gradient of a batch of CIFAR. Area: "
        "under the rate up to epoch 100, in epochs at the highest rate. In the code SimSiam's warm-up and cosine "
        "lengthen with the batch, so that batch size and schedule change together in Table S2, whose kNN accuracies "
        "(default rows, percent) stand beside them."
    )
    return Layout(head, body, note)
