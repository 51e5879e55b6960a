"""Which methods train on images: those that tests of images go through."""

from hypersphere.config import registry

METHODS = [
    n
    for n in registry.names("methods")
    if registry.read_constant("methods", n, "KIND", "image") == "image"
]
