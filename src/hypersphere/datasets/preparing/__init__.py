"""From a source's arrays to files: what is checked, which images are kept, and how they are written."""
