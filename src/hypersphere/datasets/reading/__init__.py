"""Reading of published files: fetched, checked, unpacked and decoded."""
