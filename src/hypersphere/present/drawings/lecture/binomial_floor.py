"""The floor of the test set's size under each table of accuracies."""

from hypersphere.present.drawings.shared_binomial import note_on_floors as note
from hypersphere.present.drawings.shared_binomial import rows

__all__ = ["note", "rows"]
