"""Pages and pictures of datasets, for docs/."""
