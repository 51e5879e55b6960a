"""Sources of images and sentences: a file here for each that YAML can name, and the prepared form of all (``store``).

Every source is called with ``root``, the data folder that holds its files, and ``download``: whether what is missing
there may be fetched into it; otherwise it is only read. Its other arguments are those of YAML. Folders hold what the
sources share: ``reading`` of published files and ``corrupting`` of images. All random choices are keyed.
"""
