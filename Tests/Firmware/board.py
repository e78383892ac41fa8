"""A board: a User Mode Linux machine that starts a device's file systems, with a controller on its serial line.

The controller and its air are outside of the machine; it has power as long as the machine has.
"""

import asyncio
import ctypes
import importlib.machinery
import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

RIG = os.path.join(os.path.dirname(os.path.realpath(__file__)), '..', 'System', 'rig')
sys.path.insert(0, RIG)

from bumble import hci

import radio


def load(name, path):
    """A script whose name does not end as a module's."""
    loader = importlib.machinery.SourceFileLoader(name, path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


sys.dont_write_bytecode = True
run_in_vm = load('run_in_vm', os.path.join(RIG, 'run-in-vm'))


class BoardError(Exception):
    """The board does not do what it was asked for."""


class SerialLine(radio.Client):
    """The controller at the other end of the board's serial line."""

    def connection_made(self, transport):
        self.transport = transport
        self.controller = radio.RigController(
            'board', host_sink=self, link=self.air,
            public_address=hci.Address('00:AA:01:00:00:42', hci.Address.PUBLIC_DEVICE_ADDRESS))


class Console(asyncio.Protocol):
    """What the board says on its console."""

    def __init__(self, log):
        self.text = ''
        self.said = asyncio.Event()
        self.log = log

    def data_received(self, data):
        self.text += data.decode(errors='replace').replace('\r', '')
        self.log.write(data)
        self.log.flush()
        self.said.set()

    async def wait_for(self, words, start, seconds):
        """Where the words end that come after `start`."""
        end = time.monotonic() + seconds
        while (at := self.text.find(words, start)) < 0:
            self.said.clear()
            try:
                await asyncio.wait_for(self.said.wait(), max(0.0, end - time.monotonic()))
            except asyncio.TimeoutError:
                raise BoardError('no %r on the console in %g s' % (words, seconds)) from None
        return at + len(words)


class Board:
    """One board with its disk, its controller, and the air around them."""

    # More than a device needs: this kernel wants 64 KB in one piece for each process.
    MEMORY = '256M'

    def __init__(self, kernel, image):
        # Its processes are this script's even when the kernel that has made them is gone.
        ctypes.CDLL(None, use_errno=True).prctl(run_in_vm.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self.kernel = kernel
        self.root = os.path.abspath(os.path.join(image, 'root.squashfs'))
        self.directory = tempfile.mkdtemp(prefix='board.')
        # The machine's memory is a file; it must be in memory itself.
        self.shared_memory = tempfile.mkdtemp(prefix='board.', dir='/dev/shm' if os.access('/dev/shm', os.W_OK) else None)
        self.disk = os.path.join(self.directory, 'data.ext4')
        shutil.copy(os.path.join(image, 'data.ext4'), self.disk)
        self.log = open(os.path.join(self.directory, 'console'), 'wb')
        self.hci = 'unix:' + os.path.join(self.directory, 'hci')
        self.machine = self.console = self.keyboard = None
        self.started = time.monotonic()

    async def open(self):
        """The air, where centrals attach to."""
        self.ended = asyncio.get_running_loop().create_future()     # fails when the machine ends by itself
        self.air = radio.Air()
        self.air.packet_time = 0.0025
        self.server = await asyncio.get_running_loop().create_unix_server(
            lambda: radio.Client(self.air), self.hci.split(':', 1)[1])
        return self

    @property
    def seconds(self):
        """The time since the power is on."""
        return time.monotonic() - self.started

    async def power_on(self):
        """Starts the machine with nothing but its two disks, its console and its serial line."""
        loop = asyncio.get_running_loop()
        serial, serial_inside = socket.socketpair()
        console, console_inside = socket.socketpair()
        self.console = Console(self.log)
        await loop.create_connection(lambda: SerialLine(self.air), sock=serial)
        self.keyboard, _ = await loop.create_connection(lambda: self.console, sock=console)
        self.started = time.monotonic()
        self.machine = subprocess.Popen(
            [self.kernel, 'mem=' + self.MEMORY, 'ubd0r=' + self.root, 'ubd1=' + self.disk,
             'root=/dev/ubda', 'rootfstype=squashfs', 'ro', 'quiet', 'panic=1',
             'con=null', 'con0=fd:%d' % console_inside.fileno(), 'ssl=null', 'ssl0=fd:%d' % serial_inside.fileno()],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, cwd=self.directory, start_new_session=True,
            env={'PATH': '/usr/bin:/bin', 'TMPDIR': self.shared_memory, 'HOME': self.directory},
            pass_fds=(console_inside.fileno(), serial_inside.fileno()))
        self.off = None
        self.watch = os.pidfd_open(self.machine.pid)
        loop.add_reader(self.watch, self._has_ended)
        serial_inside.close()
        console_inside.close()
        self.shell = False

    def _has_ended(self):
        asyncio.get_running_loop().remove_reader(self.watch)
        if self.off is not None:
            self.off.set_result(None)
        else:
            self.ended.set_exception(BoardError('the machine has ended by itself'))

    async def command(self, line, seconds=20.0):
        """What a command says that is typed on the console; BoardError unless it succeeds."""
        if not self.shell:
            await self.console.wait_for('Please press Enter', 0, seconds)
            self.keyboard.write(b'\n')
            self.shell = True
        start = len(self.console.text)
        # The signs are not in what the console echoes.
        self.keyboard.write(("echo beg''un; %s; echo end''ed=$?\n" % line).encode())
        begin = await self.console.wait_for('begun\n', start, seconds)
        end = await self.console.wait_for('ended=', begin, seconds)
        said = self.console.text[begin:end - len('ended=')].strip()
        status = self.console.text[end:await self.console.wait_for('\n', end, seconds)].strip()
        if status != '0':
            raise BoardError('%s: status %s, %s' % (line, status, said))
        return said

    async def until(self, condition, seconds):
        """Waits until a command succeeds on the console."""
        end = time.monotonic() + seconds
        while True:
            try:
                return await self.command(condition, seconds)
            except BoardError as error:
                if time.monotonic() > end:
                    raise BoardError('not so in %g s: %s' % (seconds, error)) from None
            await asyncio.sleep(0.1)

    async def last_words(self):
        """What the console has shown, with the logs where the board still answers."""
        if self.machine is not None and not self.ended.done():
            try:
                await self.command('logread; dmesg | tail -n 20')
            except BoardError:
                pass
        return self.console.text[-6000:] if self.console is not None else ''

    async def power_off(self, seconds):
        """Has the board end in order; whether its disk was let go of."""
        await self.command('true')
        self.off = asyncio.get_running_loop().create_future()
        self.keyboard.write(b'poweroff\n')
        try:
            await asyncio.wait_for(self.off, seconds)
        except asyncio.TimeoutError:
            raise BoardError('still running %g s after poweroff' % seconds) from None
        self.cut_power()
        header = subprocess.check_output(['/sbin/dumpe2fs', '-h', self.disk], stderr=subprocess.DEVNULL, text=True)
        return 'needs_recovery' not in header

    def cut_power(self):
        """Ends the machine between two of its instructions; its disk keeps what was written to it."""
        if self.machine is not None:
            asyncio.get_running_loop().remove_reader(self.watch)
            os.close(self.watch)
            run_in_vm.end_all(self.machine)
            self.machine = None

    async def close(self):
        self.cut_power()
        if self.keyboard is not None:
            self.keyboard.abort()
        self.server.close()
        self.log.close()
        shutil.rmtree(self.shared_memory, ignore_errors=True)
        shutil.rmtree(self.directory, ignore_errors=True)
