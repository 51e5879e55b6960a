"""What is declared: config/, paper/claims and errata, read and validated, and the plan that follows from them.

Nothing here imports torch, opens a results folder, or imports any other folder of this package.
"""
