"""What a training step takes on a device: time and its parts, memory, equal bytes; on random images, without data."""
