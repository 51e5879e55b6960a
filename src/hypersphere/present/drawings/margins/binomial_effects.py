"""Each printed effect in units of its own standard error."""

from hypersphere.present.drawings.shared_binomial import SIZE, draw
from hypersphere.present.drawings.shared_binomial import note_on_effects as note

__all__ = ["SIZE", "draw", "note"]
