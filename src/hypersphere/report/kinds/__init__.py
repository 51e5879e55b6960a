"""Kinds of artifacts, one file each: the source of the numbers, the layout or drawing, and the notes.

``draw`` in config/papers/<paper>.yaml names a kind. Nothing outside this folder knows the names of kinds.
"""
