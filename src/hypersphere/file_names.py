"""Names of files and folders in the folder of a run. A dataset and an artifact have a manifest of the same name."""

MANIFEST = "manifest.json"
"""The file that lists what a folder holds, with checksums. It is written last."""
UNFINISHED = "unfinished-"
"""The beginning of the name of a folder with a run in training: one for each code, dataset and device."""
RESUME = "resume.safetensors"
"""The state from which training resumes, in such a folder."""
