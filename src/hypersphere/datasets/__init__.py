"""Sources of images: a file here for each that YAML can name, and the prepared form of all on disk (``store``).

Folders hold what the sources share: ``reading`` of published files, ``composing`` and ``corrupting`` of images,
``preparing`` of files on disk, and ``showing`` in docs/. All random choices are keyed.
"""
