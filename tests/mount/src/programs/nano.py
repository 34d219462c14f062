# Edits notes.md as somebody at a terminal does: what nano shows is awaited before each key.
import os, pty, select, sys, time

pid, terminal = pty.fork()
if pid == 0:
    os.environ["TERM"] = "xterm"
    os.execvp("nano", ["nano", "--ignorercfiles", *sys.argv[1:], "+1,4", "notes.md"])
shown = b""


def after(what, keys):
    """Sends keys when the text has appeared; what came before it counts no more."""
    global shown
    until = time.monotonic() + 60
    while what not in shown:
        if not select.select([terminal], [], [], until - time.monotonic())[0]:
            sys.exit(f"nano does not show {what}: {shown}")
        shown += os.read(terminal, 4096)
    shown = shown.split(what, 1)[1]
    os.write(terminal, keys)


after(b"an old line", b"\x1b[3~" * 3 + b"new\x0f")
after(b"File Name to Write", b"\r")
after(b"Wrote", b"\x18")
try:
    while os.read(terminal, 4096):
        pass
except OSError:
    pass
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
