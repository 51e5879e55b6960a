"""Names for the types of components' arguments.

``temperature: PositiveFloat`` is a float to a type checker and to whoever calls the function. Where a configuration is
read, ``hypersphere.config.registry`` finds the name in the signature and checks the value. So a component needs no
library for its annotations.
"""

from typing import TypeAlias

PositiveInt: TypeAlias = int
"""An integer above 0."""
NonNegativeInt: TypeAlias = int
"""An integer of at least 0."""
PositiveFloat: TypeAlias = float
"""A finite number above 0."""
NonNegativeFloat: TypeAlias = float
"""A finite number of at least 0."""
Fraction: TypeAlias = float
"""A number from 0 to 1."""
