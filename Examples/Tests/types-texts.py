"""Types texts into a program in a terminal: types-texts.py PROGRAM OPTION...

Fails if the program does not show each text as the text that the phone has received, or moves the cursor.
"""

import os
import pty
import select
import sys
import time

# The second text is typed after the time that a virtual central normally waits for an update.
PAUSE = 6
TEXTS = ["A text that is typed.", "A text that is typed later."]

process, terminal = pty.fork()
if process == 0:
    os.execv(sys.argv[1], sys.argv[1:])

output = b""


def read_until(text, seconds=30):
    """Reads the output of the program until it contains the text, or the time is up."""
    global output
    end = time.monotonic() + seconds
    while text.encode() not in output and time.monotonic() < end:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                output += os.read(terminal, 4096)
            except OSError:  # The program has ended.
                break
    return text.encode() in output


def fail(reason):
    print(output.decode(errors="replace"))
    sys.exit(reason)


if not read_until("phone:      A text in chunks of 20 bytes"):
    fail("The phone has not received the first text.")
for text in TEXTS:
    os.write(terminal, text.encode() + b"\n")
    if not read_until("phone:      " + text):
        fail(f"The phone has not received: {text}")
    if text != TEXTS[-1]:
        read_until("a text that never comes", PAUSE)
os.write(terminal, b"\x03")
if not read_until("are withdrawn."):
    fail("The program has not ended at Ctrl-C.")
if os.waitpid(process, 0)[1] != 0:
    fail("The program has failed.")
if output.count(b"bytes to all phones") < 1 + len(TEXTS):
    fail("The bars do not show the progress.")
if b"\x1b" in output:
    fail("The program moves the cursor.")
print("text-transfer shows what is typed, in a terminal")
