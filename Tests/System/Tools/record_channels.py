#!/usr/bin/env python3
"""Records what the running bluetoothd does with AcquireNotify, AcquireWrite, Confirm and Handle.

    rig/run-in-vm --radio bumble-legacy --timeout 600 -- python3 Tools/record_channels.py [SECTION...]

As record_bluez.py, it prints what it saw and checks nothing. 'fd N' is the application's end of the N-th
socket that it has given to bluetoothd.
"""

import asyncio
import os
import select
import socket
import sys
import time

from record_bluez import answer, result, say, title, UUID
import dbus
from application import Application, Refused, CHARACTERISTIC, HCI0, PROPERTIES, SERVICE
from bumble import att
from central import Central, ctl
from record_pairing import AGENT, MANAGER, ADAPTER, device

FALSE = dbus.Boolean(False)


class Channel:
    """A pair of sockets, of which bluetoothd has one."""

    blocking = False        # bluetoothd's end; it is bluetoothd that waits when this is True and nobody reads

    def __init__(self, number, what, dev, mtu):
        self.ours, self.theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.ours.setblocking(False)
        self.theirs.setblocking(self.blocking)
        self.number, self.what, self.device, self.mtu = number, what, dev, mtu
        self.seen_hup = False

    def poll(self):
        """What came in, and whether the other end is gone; each is told once."""
        out = []
        if self.ours.fileno() < 0:
            return out
        while not self.seen_hup:
            try:
                data = self.ours.recv(4096)
            except BlockingIOError:
                break
            except OSError as error:
                out.append('error %s' % error.strerror)
                break
            events = dict(self._events())
            if not data and events.get(self.ours.fileno(), 0) & select.POLLHUP:
                break
            out.append('in ' + (data.hex() if len(data) < 24 else '%d bytes' % len(data)) if data else 'in (empty)')
        if not self.seen_hup and dict(self._events()).get(self.ours.fileno(), 0) & (select.POLLHUP | select.POLLERR):
            self.seen_hup = True
            out.append('HUP')
        return out

    def _events(self):
        poll = select.poll()
        poll.register(self.ours, select.POLLIN)
        return poll.poll(0)

    def send(self, data):
        try:
            self.ours.send(data)
            return 'sent'
        except OSError as error:
            return error.strerror

    def __str__(self):
        return 'fd %d (%s, %s)' % (self.number, self.what, self.device)


class Stage:
    """Advertised characteristics with sockets, and centrals that come and go."""

    def __init__(self):
        self.app = app = Application('/ch')
        self.s = s = app.service('s0', UUID % 'ff')
        self.n = app.characteristic(s, 'n', UUID % '01', ['notify'], NotifyAcquired=FALSE)
        self.i = app.characteristic(s, 'i', UUID % '02', ['indicate'], NotifyAcquired=FALSE)
        self.ni = app.characteristic(s, 'ni', UUID % '03', ['notify', 'indicate'], NotifyAcquired=FALSE)
        self.plain_i = app.characteristic(s, 'pi', UUID % '04', ['indicate'])
        self.plain_n = app.characteristic(s, 'pn', UUID % '05', ['notify'])
        self.w = app.characteristic(s, 'w', UUID % '06', ['read', 'write'], b'w', WriteAcquired=FALSE)
        self.wc = app.characteristic(s, 'wc', UUID % '07', ['write-without-response'], WriteAcquired=FALSE)
        self.wb = app.characteristic(s, 'wb', UUID % '08', ['write', 'write-without-response', 'reliable-write'], WriteAcquired=FALSE)
        self.adv = app.advertisement(Type='peripheral', LocalName='ch',
                                     ServiceUUIDs=dbus.Array([UUID % 'ff'], signature='s'), Discoverable=dbus.Boolean(True))
        app.answers[None, 'AcquireNotify'] = app.answers[None, 'AcquireWrite'] = self.give
        self.channels, self.centrals = [], []

    def give(self, call):
        options = call.arguments[0]
        channel = Channel(len(self.channels) + 1, call.path.rsplit('/', 1)[1] + ' ' + call.member[7:],
                          str(options.get('device', '?'))[-2:], int(options.get('mtu', 23)))
        self.channels.append(channel)
        reply = 'hq', dbus.types.UnixFd(channel.theirs), dbus.UInt16(channel.mtu)
        channel.theirs.close()
        return reply

    async def __aenter__(self):
        await asyncio.wrap_future(self.app.register())
        await asyncio.wrap_future(self.app.advertise(self.adv))
        await result(self.app.call('/org/bluez', MANAGER, 'RegisterAgent', 'os', dbus.ObjectPath('/ch/agent'), 'NoInputNoOutput'))
        await result(self.app.call(HCI0, PROPERTIES, 'Set', 'ssv', ADAPTER, 'Pairable', dbus.Boolean(True)))
        return self

    async def __aexit__(self, *_):
        for c in self.centrals:
            await c.close()
        self.app.close()
        await asyncio.sleep(0.3)

    async def central(self, n, mtu=517):
        """The central with the address F0:…:0n, connected."""
        central = await Central.open(address='F0:00:00:00:00:%02X' % n, max_mtu=mtu)
        self.centrals.append(central)
        peer = await self.connect(central)
        await peer.discover()
        return peer

    async def connect(self, central):
        peer = await central.connect(service=UUID % 'ff')
        return peer

    async def remove(self, n):
        await result(self.app.call(HCI0, ADAPTER, 'RemoveDevice', 'o', dbus.ObjectPath(device('F0:00:00:00:00:%02X' % n))))

    def handle(self, peer, path):
        uuid = self.app.objects[path][CHARACTERISTIC]['UUID']
        return next(c['handle'] for s in peer.services for c in s['characteristics'] if c['uuid'] == uuid)

    async def see(self, what, coroutine=None, wait=0.4, **peers):
        """One step: its outcome, the calls, what came out of the sockets and what the centrals got."""
        self.app.take()
        began = time.monotonic()
        try:
            got = await answer(coroutine) if coroutine is not None else ''
        except asyncio.CancelledError:      # Bumble cancels what waits when the link goes
            got = 'the link is lost'
        await settle_quietly(self.app, wait)
        say('- %s%s' % (what, ' -> ' + got if got else ''))
        for c in self.app.take():
            if c.interface not in (PROPERTIES, AGENT):
                say('    %+.3f s  %s' % (c.at - began, c))
        for channel in self.channels:
            for event in channel.poll():
                say('    %s: %s' % (channel, event))
        for name, peer in peers.items():
            if peer.stray:
                say('    %s got %s' % (name, ' '.join('%04x=%s' % (h, v.hex() if len(v) < 24 else '%d bytes' % len(v)) for h, v in peer.stray)))
                peer.stray.clear()

    async def subscribe(self, peer, path, value=b'\1\0'):
        """Writes the CCC; values then arrive in peer.stray."""
        h = self.handle(peer, path)
        ccc = next(d['handle'] for s in peer.services for c in s['characteristics'] if c['handle'] == h
                   for d in c['descriptors'] if d['uuid'] == '2902')
        await peer.write(ccc, value)


async def settle_quietly(application, seconds):
    n = -1
    while n != len(application.calls):
        n = len(application.calls)
        await asyncio.sleep(seconds)


def everybody(channels):
    """Sends its own number through each socket."""
    return ', '.join('%s %s' % (c, c.send(b'to ' + c.device.encode() + b' by %d' % c.number)) for c in channels if c.ours.fileno() >= 0)


# ------------------------------------------------------------------------ sections
async def one():
    title('AcquireNotify, one central')
    async with Stage() as t:
        a = await t.central(1)
        await t.see('subscribes', t.subscribe(a, t.n), a=a)
        say('  ', t.channels[0].send(b'one'))
        await t.see('a message through the socket', a=a)
        await t.see('PropertiesChanged Value', asyncio.wrap_future(t.app.notify(t.n, b'changed')), a=a)
        for n in (511, 512, 513, 514, 515, 600, 2000, 0, 5):
            say('   %d bytes:' % n, t.channels[0].send(bytes(n)))
            await t.see('a message of %d bytes, MTU %d' % (n, a.mtu), a=a)
        if t.channels[0].seen_hup:
            await t.see('unsubscribes', t.subscribe(a, t.n, b'\0\0'), a=a)
            await t.see('subscribes', t.subscribe(a, t.n), a=a)
        await t.see('subscribes again, the same value', t.subscribe(a, t.n), a=a)
        await t.see('unsubscribes', t.subscribe(a, t.n, b'\0\0'), a=a)
        await t.see('subscribes', t.subscribe(a, t.n), a=a)
        await t.see('unsubscribes', t.subscribe(a, t.n, b'\0\0'), a=a)
        await t.see('unsubscribes again', t.subscribe(a, t.n, b'\0\0'), a=a)
        await t.see('subscribes', t.subscribe(a, t.n), a=a)
        t.channels[-1].ours.close()
        await t.see('the application closes the socket', wait=1, a=a)
        await t.see('PropertiesChanged Value', asyncio.wrap_future(t.app.notify(t.n, b'changed')), a=a)
        await t.see('subscribes again, the same value', t.subscribe(a, t.n), a=a)
        await t.see('unsubscribes', t.subscribe(a, t.n, b'\0\0'), a=a)
        await t.see('subscribes', t.subscribe(a, t.n), a=a)
        await t.see('disconnects', a.disconnect(), 1)
        a2 = await t.connect(t.centrals[0])
        a2.services = a.services
        await t.see('connects again', wait=1, a=a2)
        await t.see('subscribes', t.subscribe(a2, t.n), a=a2)
        await t.see('link lost', ctl('cut'), 1)
        title('AcquireNotify refused')
        a3 = await t.connect(t.centrals[0])
        a3.services = a.services
        for name in ('org.bluez.Error.Failed', 'org.bluez.Error.NotSupported', 'org.freedesktop.DBus.Error.UnknownMethod', 'org.bluez.Error.NotPermitted'):
            t.app.answers[None, 'AcquireNotify'] = lambda call, name=name: Refused(name, '')
            await t.see(name + ': subscribes', t.subscribe(a3, t.n), a=a3)
            await t.see('PropertiesChanged Value', asyncio.wrap_future(t.app.notify(t.n, b'changed')), a=a3)
            await t.see('unsubscribes', t.subscribe(a3, t.n, b'\0\0'), a=a3)


async def four():
    title('AcquireNotify, four unbonded centrals')
    async with Stage() as t:
        a, b, c, d = [await t.central(n, mtu) for n, mtu in ((1, 517), (2, 100), (3, 517), (4, 64))]
        peers = dict(a=a, b=b, c=c, d=d)
        say('MTUs', [p.mtu for p in peers.values()])
        for name, p in peers.items():
            await t.see(name + ' subscribes', t.subscribe(p, t.n), **peers)
        say('  ', everybody(t.channels))
        await t.see('a message through each socket', **peers)
        await t.see('PropertiesChanged Value', asyncio.wrap_future(t.app.notify(t.n, b'all')), **peers)
        say('  ', t.channels[-1].send(bytes(200)))
        await t.see('200 bytes through the last socket', **peers)
        await t.see('b unsubscribes', t.subscribe(b, t.n, b'\0\0'), **peers)
        say('  ', everybody(t.channels))
        await t.see('a message through each socket', **peers)
        await t.see('PropertiesChanged Value', asyncio.wrap_future(t.app.notify(t.n, b'all')), **peers)
        await t.see('b subscribes', t.subscribe(b, t.n), **peers)
        await t.see('c disconnects', c.disconnect(), 1, **peers)
        say('  ', everybody(t.channels))
        await t.see('a message through each socket', **peers)
        await t.see('PropertiesChanged Value', asyncio.wrap_future(t.app.notify(t.n, b'all')), **peers)
        await t.see('a subscribes again, the same value', t.subscribe(a, t.n), **peers)
        await t.see('a: 0 and 1', t.subscribe(a, t.n, b'\0\0'), **peers)
        await t.see('a: 0 and 1', t.subscribe(a, t.n), **peers)
        c2 = await t.connect(t.centrals[2])
        c2.services = c.services
        peers['c'] = c2
        await t.see('c connects again', **peers)
        await t.see('c subscribes', t.subscribe(c2, t.n), **peers)
        say('  ', everybody(t.channels))
        await t.see('a message through each socket', **peers)
        await t.see('PropertiesChanged Value', asyncio.wrap_future(t.app.notify(t.n, b'all')), **peers)
        await t.see('d disconnects', d.disconnect(), 1, **peers)
        await t.see('b disconnects', b.disconnect(), 1, **peers)
        say('  ', everybody(t.channels))
        await t.see('a message through each socket', **peers)


async def bonded():
    title('AcquireNotify, a bonded central')
    async with Stage() as t:
        a = await t.central(1)
        await a.pair()
        say('bonded', a.encrypted)
        await t.see('subscribes', t.subscribe(a, t.n), a=a)
        say('  ', everybody(t.channels))
        await t.see('a message', a=a)
        await t.see('disconnects', a.disconnect(), 1, a=a)
        say('  ', everybody(t.channels))
        await t.see('a message while it is away')
        services, a = a.services, await t.connect(t.centrals[0])
        a.services = services
        await t.see('connects again, encrypted %s' % a.encrypted, wait=1.5, a=a)
        say('  ', everybody(t.channels))
        await t.see('a message', a=a)
        await t.see('PropertiesChanged Value', asyncio.wrap_future(t.app.notify(t.n, b'all')), a=a)
        await t.see('subscribes again, the same value', t.subscribe(a, t.n), a=a)
        say('  ', everybody(t.channels))
        await t.see('a message', a=a)
        await t.see('CCC 0', t.subscribe(a, t.n, b'\0\0'), a=a)
        await t.see('CCC 1', t.subscribe(a, t.n), a=a)
        say('  ', everybody(t.channels))
        await t.see('a message', a=a)
        title('A bonded and two unbonded centrals')
        b, c = await t.central(2), await t.central(3)
        peers = dict(a=a, b=b, c=c)
        await t.see('b subscribes', t.subscribe(b, t.n), **peers)
        await t.see('c subscribes', t.subscribe(c, t.n), **peers)
        await t.see('a disconnects', a.disconnect(), 1, **peers)
        say('  ', everybody(t.channels))
        await t.see('a message', **peers)
        await t.see('c disconnects', c.disconnect(), 1, **peers)
        say('  ', everybody(t.channels))
        await t.see('a message', **peers)
        a = await t.connect(t.centrals[0])
        a.services = services
        peers = dict(a=a, b=b)
        await t.see('a connects again', wait=1.5, **peers)
        say('   link', a.disconnect_reason, 'encrypted', a.encrypted)
        await t.see('a subscribes again, the same value', t.subscribe(a, t.n), **peers)
        say('  ', everybody(t.channels))
        await t.see('a message', **peers)
        await t.see('PropertiesChanged Value', asyncio.wrap_future(t.app.notify(t.n, b'all')), **peers)
        await t.see('RemoveDevice a', t.remove(1), 3, **peers)
        title('Mode A, bonded and unbonded')
        await t.see('b subscribes to one without socket', t.subscribe(b, t.plain_n), **peers)


async def indications():
    title('Indications through the socket')
    async with Stage() as t:
        a, b = await t.central(1), await t.central(2)
        peers = dict(a=a, b=b)
        await t.see('a subscribes', t.subscribe(a, t.i, b'\2\0'), **peers)
        await t.see('b subscribes', t.subscribe(b, t.i, b'\2\0'), **peers)
        say('  ', t.channels[0].send(b'i1'))
        await t.see('one', **peers)
        for n in range(3):
            t.channels[0].send(b'x%d' % n)
        await t.see('three at once', **peers)
        if len(t.channels) > 1:
            say('  ', t.channels[1].send(b'b1'))
            await t.see('one through the second socket', **peers)
        await t.see('PropertiesChanged Value', asyncio.wrap_future(t.app.notify(t.i, b'all')), **peers)
        a.confirm_indications = False
        for n in range(3):
            t.channels[0].send(b'y%d' % n)
        await t.see('three at once, a does not confirm', wait=2, **peers)
        a.client.send_confirmation(att.ATT_Handle_Value_Confirmation())
        await t.see('a confirms once', wait=1, **peers)
        a.client.send_confirmation(att.ATT_Handle_Value_Confirmation())
        await t.see('a confirms once', wait=1, **peers)
        a.client.send_confirmation(att.ATT_Handle_Value_Confirmation())
        a.confirm_indications = True
        await t.see('a confirms once', wait=1, **peers)
        title('A characteristic with both')
        await t.see('a: CCC 1', t.subscribe(a, t.ni, b'\1\0'), **peers)
        await t.see('b: CCC 2', t.subscribe(b, t.ni, b'\2\0'), **peers)
        for ch in t.channels:
            if ch.what.startswith('ni'):
                say('  ', ch, ch.send(b'm%d' % ch.number))
        await t.see('a message each', **peers)
        await t.see('a: CCC 2', t.subscribe(a, t.ni, b'\2\0'), **peers)
        for ch in t.channels:
            if ch.what.startswith('ni'):
                say('  ', ch, ch.send(b'm%d' % ch.number))
        await t.see('a message each', **peers)
        title('Confirm, without sockets')
        await t.see('a subscribes', t.subscribe(a, t.plain_i, b'\2\0'), **peers)
        await t.see('b subscribes', t.subscribe(b, t.plain_i, b'\2\0'), **peers)
        await t.see('one value', asyncio.wrap_future(t.app.notify(t.plain_i, b'1')), **peers)
        for n in range(3):
            await asyncio.wrap_future(t.app.notify(t.plain_i, b'p%d' % n))
        await t.see('three values', **peers)
        a.confirm_indications = False
        for n in range(3):
            await asyncio.wrap_future(t.app.notify(t.plain_i, b'q%d' % n))
        await t.see('three values, a does not confirm', wait=1, **peers)
        a.client.send_confirmation(att.ATT_Handle_Value_Confirmation())
        await t.see('a confirms once', **peers)
        await t.see('a disconnects without confirming', a.disconnect(), 1.5, **peers)
        a2 = await t.connect(t.centrals[0])
        a2.services = a.services
        peers['a'] = a2
        await t.see('a connects, subscribes', t.subscribe(a2, t.plain_i, b'\2\0'), **peers)
        a2.confirm_indications = False
        await t.see('a value', asyncio.wrap_future(t.app.notify(t.plain_i, b'late')), wait=1, **peers)
        began = time.monotonic()
        say('never confirmed: link ends', await answer(a2.wait_disconnected(40)), a2.disconnect_reason, 'after %.1f s' % (time.monotonic() - began))
        await t.see('then', wait=1, **peers)


async def pressure():
    title('Many messages at once, through the socket')
    async with Stage() as t:
        a = await t.central(1)
        await t.see('subscribes', t.subscribe(a, t.n), a=a)
        ch = t.channels[0]
        n, began = 0, time.monotonic()
        blocked = 0
        while n < 3000 and time.monotonic() - began < 20:
            got = ch.send(b'%04d' % n + bytes(16))
            if got == 'sent':
                n += 1
            else:
                if not blocked:
                    say('   first refusal after %d: %s' % (n, got))
                blocked += 1
                await asyncio.sleep(0.005)
        say('   %d messages taken in %.2f s, %d refusals; the central has %d' % (n, time.monotonic() - began, blocked, len(a.stray)))
        last = -1
        while last != len(a.stray):
            last = len(a.stray)
            await asyncio.sleep(1)
        say('   the central has in the end %d, in order %s, after %.1f s' % (
            last, [int(v[:4]) for _, v in a.stray] == list(range(last)), time.monotonic() - began))
        a.stray.clear()
        await t.see('unsubscribes', t.subscribe(a, t.n, b'\0\0'), a=a)


async def writes():
    title('AcquireWrite, one central')
    async with Stage() as t:
        a = await t.central(1)
        h = t.handle(a, t.w)
        await t.see('the first Write Request', a.write(h, b'1'), a=a)
        await t.see('the second', a.write(h, b'22'), a=a)
        await t.see('an empty one', a.write(h, b''), a=a)
        await t.see('a read', a.read_once(h), a=a)
        await t.see('prepare 0', a.prepare(h, 0, b'long'), a=a)
        await t.see('prepare 4', a.prepare(h, 4, b' write'), a=a)
        await t.see('execute', a.execute(), a=a)
        await t.see('prepare 5', a.prepare(h, 5, b'offset'), a=a)
        await t.see('execute', a.execute(), a=a)
        await t.see('500 bytes', a.write(h, bytes(500)), a=a)
        hc = t.handle(a, t.wc)
        for n in range(3):
            await a.write_command(hc, b'c%d' % n)
        await t.see('three Write Commands', a=a)
        await a.write_command(hc, b'c4')
        await t.see('one more', a=a)
        b = await t.central(2, 100)
        await t.see('another central writes', b.write(h, b'from b'), b=b)
        await t.see('the first writes', a.write(h, b'from a'), a=a)
        await t.see('another central sends a command', b.write_command(hc, b'c b'), b=b)
        for ch in t.channels:
            if ch.what == 'w Write' and ch.ours.fileno() >= 0 and not ch.seen_hup:
                say('   the application sends through', ch, ch.send(b'up'))
        await t.see('then', a=a, b=b)
        await t.see('the first disconnects', a.disconnect(), 1, b=b)
        await t.see('the other writes', b.write(h, b'from b'), b=b)
        services, a = a.services, await t.connect(t.centrals[0])
        a.services = services
        await t.see('the first, connected again, writes', a.write(h, b'from a'), a=a)
        for ch in t.channels:
            if ch.what == 'w Write':
                ch.ours.close()
        await t.see('the application closes its sockets', a=a)
        await t.see('the first writes', a.write(h, b'from a'), a=a)
        await t.see('the first writes', a.write(h, b'from a'), a=a)
        b2 = b
        for blocking in (False, True):
            title('AcquireWrite, nobody reads; bluetoothd\'s end is %s' % ('blocking' if blocking else 'non-blocking'))
            Channel.blocking = blocking
            for ch in t.channels:
                ch.ours.close()
            await asyncio.sleep(0.5)
            for what, path, make in (('requests', t.w, lambda h, v: a.write(h, v)), ('commands', t.wb, lambda h, v: a.write_command(h, v))):
                h2 = t.handle(a, path)
                if what == 'commands' and blocking:
                    continue
                n, got, began = 0, '', time.monotonic()
                while n < 700 and time.monotonic() - began < 25:
                    got = await answer(make(h2, b'%04d' % n + bytes(16)), 3)
                    if what == 'commands' and n % 20 == 0:
                        await answer(b2.read_once(t.handle(b2, t.w)), 5)
                    if got != 'ok':
                        break
                    n += 1
                say('   %d %s taken in %.1f s, then: %s; another central reads: %s' % (
                    n, what, time.monotonic() - began, got, await answer(b2.read_once(t.handle(b2, t.w)), 3)))
                ch, values = t.channels[-1], []
                for _ in range(2000):
                    try:
                        data = ch.ours.recv(600)
                    except OSError:
                        break
                    if not data:
                        break
                    values.append(int(data[:4]))
                gaps = [v for i, v in enumerate(values[1:]) if v != values[i] + 1]
                say('   %s held %d messages, %s to %s, gaps before %s' % (ch, len(values), values[:1], values[-1:], gaps[:5]))
                await asyncio.sleep(1)
                await t.see('read, then a write', a.write(h2, b'0999'), a=a)
                if a.disconnected.done():
                    break
        Channel.blocking = False
        title('AcquireWrite refused')
        a = b2
        for ch in t.channels:
            ch.ours.close()
        await asyncio.sleep(0.5)
        for name in ('org.bluez.Error.Failed', 'org.bluez.Error.NotSupported', 'org.bluez.Error.NotAuthorized', 'org.freedesktop.DBus.Error.UnknownMethod'):
            t.app.answers[None, 'AcquireWrite'] = lambda call, name=name: Refused(name, '')
            await t.see(name + ': a request', a.write(h, b'r'), a=a)
            await t.see(name + ': another', a.write(h, b'r2'), a=a)
            await a.write_command(hc, b'c')
            await t.see(name + ': a command', a=a)
        t.app.answers[None, 'AcquireWrite'] = lambda call: None
        await t.see('no answer: a request', a.write(h, b'r'), a=a)
        await t.see('no answer: another', a.write(h, b'r2'), a=a)


async def handles():
    title('Handle')

    def application(handles, includes=(), order=None, primary=True):
        """Two services, each with a notifying characteristic with a descriptor; `handles` by name."""
        app = Application('/h')

        def pinned(name):
            return {'Handle': dbus.UInt16(handles[name])} if name in handles else {}
        for s in order or ('s0', 's1'):
            path = app.service(s, UUID % ('f0' if s == 's0' else 'f1'), **pinned(s))
            if s == 's1' and not primary:
                app.objects[path][SERVICE]['Primary'] = dbus.Boolean(False)
            c = app.characteristic(path, 'c', UUID % ('e0' if s == 's0' else 'e1'), ['read', 'notify'], b'c', **pinned(s + 'c'))
            d = app.descriptor(c, 'd', UUID % 'd0', ['read'], b'd')
            if s + 'd' in handles:
                app.objects[d]['org.bluez.GattDescriptor1']['Handle'] = dbus.UInt16(handles[s + 'd'])
            for owner, included in includes:
                if owner == s:
                    app.objects[path][SERVICE].setdefault('Includes', dbus.Array([], signature='o')).append(dbus.ObjectPath('/h/' + included))
        app.answers[None, 'Set'] = lambda call: ('',)
        return app

    async with await Central.open(address='F0:00:00:00:00:05') as central:
        async def show(app, what):
            say('- %s:' % what, await result(app.register()))
            await asyncio.sleep(0.3)
            for c in app.take():
                if c.member == 'Set':
                    say('    ', c)

        async def dump(app):
            adv = app.advertisement(Type='peripheral', LocalName='h', ServiceUUIDs=dbus.Array([UUID % 'ff'], signature='s'))
            say('   ', await result(app.advertise(adv)))
            peer = await central.connect(service=UUID % 'ff')
            await peer.discover()
            for s in peer.services:
                if s['uuid'].startswith('5249'):
                    say('     %s service %04x-%04x %s includes %s' % ('primary' if s['primary'] else 'secondary', s['handle'], s['end'], s['uuid'][-2:],
                                                                    ['%04x: %04x-%04x %s' % (h, a, b, u[-2:]) for h, a, b, u in s['included']]))
                    for c in s['characteristics']:
                        say('       %04x %s %s' % (c['handle'], c['uuid'][-4:], ' '.join('%04x=%s' % (d['handle'], d['uuid'][-4:]) for d in c['descriptors'])))
                for c in s['characteristics']:
                    if c['uuid'] == '2b2a':
                        say('     database hash', await answer(peer.read_once(c['handle'])))
            await peer.disconnect()

        for what, pins, kwargs in (
                ('no Handle', {}, {}),
                ('the same again, registered anew', {}, {}),
                ('Handle 0 everywhere', dict(s0=0, s0c=0, s0d=0, s1=0, s1c=0, s1d=0), {}),
                ('pinned', dict(s0=0x100, s0c=0x102, s0d=0x104, s1=0x200, s1c=0x202, s1d=0x204), {}),
                ('pinned, registered anew', dict(s0=0x100, s0c=0x102, s0d=0x104, s1=0x200, s1c=0x202, s1d=0x204), {}),
                ('only services pinned', dict(s0=0x100, s1=0x200), {}),
                ('no Handle after pinned ones', {}, {}),
                ('services and characteristics pinned, not descriptors', dict(s0=0x100, s0c=0x102, s1=0x200, s1c=0x202), {}),
                ('adjacent services', dict(s0=0x300, s0c=0x302, s0d=0x304, s1=0x305, s1c=0x307, s1d=0x309), {}),
                ('with a gap in the service', dict(s0=0x300, s0c=0x303, s0d=0x305), {}),
                ('overlapping services', dict(s0=0x300, s1=0x304), {}),
                ('the same handle twice', dict(s0=0x300, s1=0x300), {}),
                ('characteristic outside its service', dict(s0=0x300, s0c=0x320), {}),
                ('characteristic pinned, service not', dict(s0c=0x102), {}),
                ('descriptor where the CCC goes', dict(s0=0x300, s0c=0x302, s0d=0x303), {}),
                ('descending services', dict(s0=0x500, s1=0x400), {}),
                ('s0 includes s1', {}, dict(includes=[('s0', 's1')])),
                ('s1 includes s0', {}, dict(includes=[('s1', 's0')])),
                ('s1 includes s0, s1 comes first', {}, dict(includes=[('s1', 's0')], order=('s1', 's0'))),
                ('s0 includes s1, s1 secondary', {}, dict(includes=[('s0', 's1')], primary=False)),
                ('s0 includes s1 secondary, s1 comes first', {}, dict(includes=[('s0', 's1')], order=('s1', 's0'), primary=False)),
                ('both include each other', {}, dict(includes=[('s0', 's1'), ('s1', 's0')])),
                ('s0 includes itself', {}, dict(includes=[('s0', 's0')])),
                ('s0 includes s1, pinned', dict(s0=0x600, s1=0x700), dict(includes=[('s0', 's1')], order=('s1', 's0'))),
                ('s0 includes s1, all pinned', dict(s0=0x600, s0c=0x603, s0d=0x605, s1=0x700, s1c=0x702, s1d=0x704), dict(includes=[('s0', 's1')], order=('s1', 's0'))),
                ('service 0xffff', dict(s0=0xffff), {}),
                ('service 0xfffb', dict(s0=0xfffb), {}),
                ('no Handle after that', {}, {})):
            app = application(pins, **kwargs)
            try:
                await asyncio.wait_for(show(app, what), 20)
                await asyncio.wait_for(dump(app), 40)
            except Exception as error:
                say('   !!', type(error).__name__, error)
            app.close()
            await asyncio.sleep(0.3)
        title('After a restart of bluetoothd')
        for what, pins in (('no Handle', {}), ('pinned', dict(s0=0x100, s0c=0x102, s0d=0x104, s1=0x200, s1c=0x202, s1d=0x204))):
            await ctl('stop-bluetoothd')
            await ctl('start-bluetoothd')
            app = application(pins)
            await show(app, what)
            await dump(app)
            app.close()


SECTIONS = {f.__name__: f for f in (one, four, bonded, indications, pressure, writes, handles)}


async def main():
    for name in sys.argv[1:] or SECTIONS:
        try:
            await asyncio.wait_for(SECTIONS[name](), 250)
        except (Exception, asyncio.CancelledError) as error:
            say('!! section %s ended with %s: %s' % (name, type(error).__name__, error))
    return 0


if __name__ == '__main__':
    status = asyncio.run(main())
    sys.stdout.flush()
    os._exit(status)
