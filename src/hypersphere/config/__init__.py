"""Declarations: config/, read and validated, and the plan that follows from them.

This folder imports no torch and no other folder of the package, and opens no results folder.
"""
