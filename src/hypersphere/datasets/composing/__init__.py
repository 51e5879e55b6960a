"""Sets that are composed of other images: which images, where they go, and what conflicts."""
