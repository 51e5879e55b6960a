"""The command ``hypersphere``, its console, and the other programs that people start. Nothing imports this folder."""
