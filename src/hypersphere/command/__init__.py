"""The command ``hypersphere``, and other programs that people start. No other folder imports this one."""
