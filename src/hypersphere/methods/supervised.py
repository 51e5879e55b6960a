"""Supervised classification: one view, one linear classifier, labels. A baseline, not a contrastive method."""

from torch import nn

from hypersphere.methods.base import Batch, Method, Output, Parts

GIVES = ("scores", "labels")
VIEWS = 1


class Supervised(Method):
    """Wiring of the lecture's supervised baseline (Chen, Luo & Li 2021, Tables 3 and 4)."""

    HEADS = ("classifier",)
    classifier: nn.Module

    def forward(self, batch: Batch) -> Output:
        """Loss over the view; the embeddings are the classifier's scores, because they enter the loss."""
        (view,) = batch.views
        scores = self.classifier(self.encoder(view))
        return Output(
            self.objective(scores=self.gradient(scores), labels=batch.labels), scores.detach()
        )


def supervised(parts: Parts, *, labels: str = "class") -> Method:
    """A linear classifier feature_dim -> classes with bias, trained together with the encoder.

    Args:
        labels: the name of the training split's labels that batches hold: of several digits, ``digit_2``.
    """
    return Supervised(parts, classifier=nn.Linear(parts.features, parts.classes))
