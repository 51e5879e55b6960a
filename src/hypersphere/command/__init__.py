"""The command ``hypersphere``, its console, and other programs that people start. No other folder imports this one."""
