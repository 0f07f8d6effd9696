"""Runs a command on a terminal of its own.

usage: terminal.py COLUMNS OUT COMMAND [ARG...]

What the command writes to the terminal is in the file OUT as soon as it is written. Standard output is not the terminal's.
Exit status: that of the command, 128 + N if signal N ended it, 124 if it took a minute.
"""
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

columns, out, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
stdout = os.dup(1)
pid, master = pty.fork()
if pid == 0:
    os.dup2(stdout, 1)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell starts what it puts in the background without it
    fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    os.execvp(command[0], command)
end = time.monotonic() + 60
with open(out, "wb", buffering=0) as f:
    while time.monotonic() < end:
        if not select.select([master], [], [], 1)[0]:
            continue
        try:
            data = os.read(master, 65536)
        except OSError:  # Linux says so when the last one has closed the terminal
            break
        if not data:
            break
        f.write(data)
    else:
        os.killpg(pid, signal.SIGKILL)
        sys.exit(124)
status = os.waitpid(pid, 0)[1]
sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
