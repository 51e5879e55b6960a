"""For each line ``[folder, arguments, log]`` read, forks a process that runs ``hypersphere arguments`` in that folder.

Importing torch takes seconds and forking takes milliseconds: this way every method can be killed a few times over. The
processes are real, and so are their signals. Answers with the child's number, and at the end with its status.
"""

import json
import os
import signal
import sys

import hypersphere.methods.base
import hypersphere.training.pretrain  # noqa: F401
from hypersphere.command.cli import main

for line in sys.stdin:
    folder, arguments, log = json.loads(line)
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.chdir(folder)
        status = main(arguments)
        sys.stdout.flush()
        os._exit(status)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
