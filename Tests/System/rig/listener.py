"""A listener for L2CAP LE credit-based channels on the kernel's sockets, with a handler for each channel.

With the buffers of 208 KiB that a channel has at first, long packets do not pass. The kernel grants credits for about
33 KB, and a longer packet that arrives stops the channel for good. It refuses to send a packet (EAGAIN) whose PDUs do not
all fit, though POLLOUT reports room: over 40 KB for PDUs of 247 bytes, much less for shorter ones.
"""

import asyncio
import ctypes
import os
import socket
import struct

AF_BLUETOOTH = 31
SOL_BLUETOOTH = 274
BT_RCVMTU = 13
LE_PUBLIC = 1

libc = ctypes.CDLL(None, use_errno=True)


def checked(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def set_option(fd, level, option, form, value):
    data = struct.pack(form, value)
    checked(libc.setsockopt(fd, level, option, data, len(data)))


class Channel:
    def __init__(self, fd):
        self.fd = fd
        os.set_blocking(fd, False)
        self.sent = 0                       # packets that the kernel has taken
        self.is_waiting = asyncio.Event()   # for room
        self.released = asyncio.Event()     # for handlers that wait for the test
        self.got = []                       # what such handlers have received
        self.end = asyncio.get_running_loop().create_future()

    async def ready(self, add, remove):
        event = asyncio.Event()
        add(self.fd, event.set)
        try:
            await event.wait()
        finally:
            remove(self.fd)

    async def send(self, packet):
        """Waits for room (EAGAIN) as often as necessary."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                os.write(self.fd, packet)
                self.sent += 1
                return
            except BlockingIOError:
                self.is_waiting.set()
                await self.ready(loop.add_writer, loop.remove_writer)
                self.is_waiting.clear()

    async def receive(self):
        """The next packet; empty at the end."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                return os.read(self.fd, 65535)
            except BlockingIOError:
                await self.ready(loop.add_reader, loop.remove_reader)

    async def is_stopped(self):
        """Whether the channel comes to have no room for half a second, in which 200 PDUs fit."""
        for _ in range(20):
            sent = self.sent
            await asyncio.sleep(0.5)
            if self.is_waiting.is_set() and self.sent == sent:
                return True
        return False

    async def received(self, last):
        """What the handler has received, when this is the last of it."""
        for _ in range(400):
            if self.got[-1:] == [last]:
                break
            await asyncio.sleep(0.05)
        return self.got

    async def ended(self, seconds):
        await asyncio.wait({self.end}, timeout=seconds)
        return self.end.done()


class Listener:
    """Accepts channels with a PSM. A channel is closed when its handler returns."""

    def __init__(self, psm, handler, mtu=0, buffers=0):
        self.handler, self.buffers = handler, buffers
        self.channels, self.failures, self.tasks = [], [], set()
        self.fd = checked(libc.socket(AF_BLUETOOTH, socket.SOCK_SEQPACKET | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK, 0))
        # struct sockaddr_l2; the socket module knows no address type.
        address = struct.pack('<HH6sHBx', AF_BLUETOOTH, psm, bytes(6), 0, LE_PUBLIC)
        checked(libc.bind(self.fd, address, len(address)))
        if mtu:
            set_option(self.fd, SOL_BLUETOOTH, BT_RCVMTU, '=H', mtu)
        checked(libc.listen(self.fd, 4))
        asyncio.get_running_loop().add_reader(self.fd, self.accept)

    def accept(self):
        channel = Channel(checked(libc.accept(self.fd, None, None)))
        if self.buffers:
            set_option(channel.fd, socket.SOL_SOCKET, socket.SO_RCVBUF, '=i', self.buffers)
            set_option(channel.fd, socket.SOL_SOCKET, socket.SO_SNDBUF, '=i', self.buffers)
        self.channels.append(channel)
        task = asyncio.ensure_future(self.serve(channel))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def serve(self, channel):
        try:
            await self.handler(channel)
        except ConnectionError:
            pass                # the end of the channel
        except Exception as error:
            self.failures.append(repr(error))
        finally:
            os.close(channel.fd)
            if not channel.end.done():
                channel.end.set_result(None)

    def close(self):
        """Ends the listener and its channels."""
        asyncio.get_running_loop().remove_reader(self.fd)
        os.close(self.fd)
        for task in self.tasks:
            task.cancel()
