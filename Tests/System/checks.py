"""What the tests of the examples have in common: checks that are counted, and programs that are run."""

import asyncio
import os
import time

STOP_TIME = 10.0    # seconds that a program may take to end

passed = failed = 0


def check(what, ok, detail=None):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    print('%s  %s%s' % ('ok  ' if ok else 'FAIL', what, '' if detail is None else '  [%s]' % (detail,)), flush=True)
    return ok


class Program:
    """A program, and what it says on its standard output and its standard error."""

    def __init__(self, process):
        self.process = process
        self.lines = []
        self.said = asyncio.Event()
        self.out = asyncio.ensure_future(self._read())
        self.err = asyncio.ensure_future(process.stderr.read())

    @classmethod
    async def start(cls, path, *arguments, **environment):
        return cls(await asyncio.create_subprocess_exec(
            path, *arguments, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE, env={**os.environ, **environment}))

    async def _read(self):
        while line := await self.process.stdout.readline():
            self.lines.append(line.decode(errors='replace').rstrip('\n'))
            self.said.set()

    async def says(self, text, seconds=10.0):
        """Whether it says this within the time."""
        end = time.monotonic() + seconds
        while not any(text in line for line in self.lines):
            self.said.clear()
            try:
                await asyncio.wait_for(self.said.wait(), max(0.0, end - time.monotonic()))
            except asyncio.TimeoutError:
                return False
        return True

    async def end(self, number=None, seconds=STOP_TIME):
        """(status, stdout, stderr), after the signal; status None when it had to be killed."""
        if number is not None and self.process.returncode is None:
            self.process.send_signal(number)
        try:
            status = await asyncio.wait_for(self.process.wait(), seconds)
        except asyncio.TimeoutError:
            self.process.kill()
            await self.process.wait()
            status = None
        await self.out
        return status, '\n'.join(self.lines), (await self.err).decode(errors='replace')


async def run_parts(parts, names, *arguments):
    """Runs the parts of these names, each for its seconds at most; the exit status."""
    for name in names or parts:
        part, seconds = parts[name]
        try:
            await asyncio.wait_for(part(*arguments), seconds)
        except asyncio.TimeoutError:
            check('%s ends within %d s' % (name, seconds), False)
        except Exception as error:
            check('%s runs to its end' % name, False, '%s: %s' % (type(error).__name__, error))
    print('%d passed, %d failed' % (passed, failed), flush=True)
    return 1 if failed or not passed else 0
