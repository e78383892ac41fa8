#!/usr/bin/env python3
"""Tests the rig and bumble_central.py by themselves, with an application that is not this project's.

    rig/run-in-vm --radio bumble-legacy -- python3 protocol_test.py

When this fails, what the other system tests say of a peripheral means nothing.
"""

import asyncio
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, 'rig'))
from application import Application, Refused  # noqa: E402
from listener import Listener  # noqa: E402
import central as rig_central  # noqa: E402
from bumble import hci  # noqa: E402
from central import ctl  # noqa: E402
import dbus  # noqa: E402

NAME = 'probe'.encode().hex()
passed = failed = 0


def check(what, ok, detail=''):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    print('%s  %s%s' % ('ok  ' if ok else 'FAIL', what, '' if ok else '  [%s]' % (detail,)), flush=True)
    return ok


class Central:
    """One bumble_central.py."""

    @classmethod
    async def start(cls):
        self = cls()
        self.process = await asyncio.create_subprocess_exec(
            sys.executable, os.path.join(HERE, 'bumble_central.py'), stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE, limit=1 << 20)
        return self

    async def ask(self, line, seconds=70):
        self.process.stdin.write(line.encode() + b'\n')
        await self.process.stdin.drain()
        return (await asyncio.wait_for(self.process.stdout.readline(), seconds)).decode().rstrip('\n')

    async def expect(self, line, *replies):
        """Asks; one of the replies must come ('ok update*': what begins so)."""
        got = await self.ask(line)
        check('%s -> %s' % (line[:60], ' or '.join(r[:40] for r in replies)),
              any(got == r or (r.endswith('*') and got.startswith(r[:-1])) for r in replies), got)
        return got


def handle(discovered, uuid):
    words = discovered.split()
    return next(words[i + 1] for i, w in enumerate(words) if w == 'characteristic' and words[i + 3] == uuid)


async def commands():
    """HCI commands of which the first is given up while its answer is on its way."""
    async with await rig_central.Central.open(address='F0:00:00:00:00:03') as central:
        host = central.device.host
        given_up = asyncio.ensure_future(host.send_command(hci.HCI_Read_Local_Version_Information_Command()))
        for _ in range(5):
            await asyncio.sleep(0)
        given_up.cancel()
        wanted = [hci.HCI_Read_BD_ADDR_Command(), hci.HCI_LE_Rand_Command(), hci.HCI_Read_Local_Name_Command()] * 5
        answers = await asyncio.gather(*map(host.send_command, wanted), return_exceptions=True)
        got = [getattr(a, 'command_opcode', a) for a in answers]
        check('each HCI command has its own answer', got == [w.op_code for w in wanted], got)


async def pairing(app, a, secret):
    """Pairing, bonds and their loss; a is connected."""
    agent = '/probe/agent'
    adapter, manager = 'org.bluez.Adapter1', 'org.bluez.AgentManager1'
    central = '/org/bluez/hci0/dev_F0_00_00_00_00_01'

    async def call(*arguments):
        return await asyncio.wrap_future(app.call(*arguments))

    async def register(capability):
        await call('/org/bluez', manager, 'RegisterAgent', 'os', dbus.ObjectPath(agent), capability)

    async def unregister():
        await call('/org/bluez', manager, 'UnregisterAgent', 'o', dbus.ObjectPath(agent))

    async def reconnect():
        await a.expect('disconnect', 'ok')
        await a.expect('connect 10000 service 18ff', 'ok 00:AA:01:00:00:42*')

    async def asked(member):
        while True:
            for c in app.calls:
                if c.path == agent and c.member == member:
                    return c
            await asyncio.sleep(0.05)
    await call('/org/bluez/hci0', 'org.freedesktop.DBus.Properties', 'Set', 'ssv', adapter, 'Pairable', dbus.Boolean(True))
    await a.expect('pairing', 'error usage*')
    await a.expect('pair hands', 'error usage*')
    await a.expect('read ' + secret, 'error att 0x0f')
    await a.expect('pair none bonding sc', 'error pairing 0x0c')
    await register('NoInputNoOutput')
    await a.expect('answer yes', 'ok')
    await a.expect('pair none sc', 'ok')
    await a.expect('read ' + secret, 'ok 73')
    await reconnect()
    await a.expect('read ' + secret, 'error att 0x0f')
    await a.expect('pair none bonding', 'ok')
    await reconnect()
    await a.expect('read ' + secret, 'ok 73')
    await a.expect('forget', 'ok')
    await a.expect('recall', 'ok')
    await reconnect()
    await a.expect('read ' + secret, 'ok 73')
    await a.expect('forget', 'ok')
    await unregister()
    await register('KeyboardDisplay')   # the kernel takes a capability over when a central connects
    await reconnect()
    await a.expect('read ' + secret, 'error att 0x0f')
    number = (await a.expect('pair yesno mitm sc bonding', 'ok compare *')).split()[-1]
    await a.expect('answer no', 'ok')
    await a.expect('pairing', 'error pairing*', 'error gone*')
    check('both showed the same number', (await asked('RequestConfirmation')).arguments[1] == int(number), app.calls)
    await a.ask('disconnect')
    await a.expect('connect 10000 service 18ff', 'ok 00:AA:01:00:00:42*')
    app.take()
    await a.expect('pair keyboard mitm sc bonding', 'ok passkey')
    await a.expect('answer %06d' % (await asked('DisplayPasskey')).arguments[1], 'ok')
    await a.expect('pairing', 'ok')
    app.take()
    await call('/org/bluez/hci0', adapter, 'RemoveDevice', 'o', dbus.ObjectPath(central))
    await a.expect('next 10000', 'ok disconnected*')
    await a.expect('connect 10000 service 18ff', 'ok 00:AA:01:00:00:42*')
    await a.expect('read ' + secret, 'error att 0x0f')
    app.answers[agent, 'RequestPasskey'] = lambda call: None
    await a.expect('pair display mitm', 'ok display *')
    for line in 'pairing', 'answer seen', 'disconnect':
        a.process.stdin.write(line.encode() + b'\n')
    for command, wanted in (('pairing', 'error gone'), ('answer', 'ok'), ('disconnect', 'ok')):
        reply = (await asyncio.wait_for(a.process.stdout.readline(), 20)).decode().rstrip('\n')
        check('%s when the central disconnects' % command, reply.startswith(wanted), reply)
    del app.answers[agent, 'RequestPasskey']
    await a.expect('connect 10000 service 18ff', 'ok 00:AA:01:00:00:42*')


async def documents(app, value, v, a, b):
    """What the radio does for measurements: a document is compared, and each link has a speed of its own."""
    async def arrive(*values):
        for sent in values:
            await asyncio.wrap_future(app.notify(value, sent))
        times = []
        for central, kind in ((a, 'notify'), (b, 'indicate')):
            for sent in values:
                reply = await central.expect('next 10000', 'ok update %s %s %s *' % (v, kind, sent.hex()))
            times.append(int(reply.split()[-1]))
        return times

    async def compared(state):
        copies = await ctl('copies')
        want = ['%s %s' % (address, state) for address in ('F0:00:00:00:00:01', 'F0:00:00:00:00:02')]
        check('copies -> ' + state, sorted(copies.split('\n')) == want, copies)

    with open('/tmp/document', 'wb') as file:
        file.write(b'abcde')
    await ctl('document', '/tmp/document')
    await arrive(b'abc', b'de')
    await compared('5 2 open')
    await arrive(b'EOM')
    await compared('5 3 whole')
    await ctl('document', '/tmp/document')
    await arrive(b'abc', b'd!')
    await compared('3 2 wrong')
    await ctl('document', '/tmp/document')
    await arrive(b'abcde', b'abcde')
    await compared('5 2 wrong')
    await ctl('document')
    for slow, address in ((0, 'F0:00:00:00:00:01'), (1, 'F0:00:00:00:00:02')):
        await ctl('speed', '500', address)
        times = await arrive(b'last')
        await ctl('speed', '2.5')
        check('%s is slow' % address, times[slow] > times[1 - slow], times)


async def reply_of(central, seconds=20):
    return (await asyncio.wait_for(central.process.stdout.readline(), seconds)).decode().rstrip('\n')


async def channels(a, b):
    """Channels to listeners that echo, and to those that send without being asked; a and b are connected."""
    async def echo(channel):
        await channel.send(b'hello')
        while packet := await channel.receive():
            if packet == b'bye':
                return
            await channel.send(packet)

    echoing = Listener(0x80, echo, mtu=65535, buffers=212992)
    await a.expect('channel 80 2048 9', 'error usage*')
    await a.expect('nextpacket 1 1', 'error usage*')
    await a.expect('channel 81 2048', 'error channel 0x0002')
    await a.expect('channel 80 65535', 'ok 1 65535')
    await a.expect('nextpacket 1 10000', 'ok 68656c6c6f')
    for size in (1, 23, 672, 65535):
        packet = os.urandom(size).hex()
        await a.expect('sendpacket 1 10000 ' + packet, 'ok')
        await a.expect('nextpacket 1 10000', 'ok ' + packet)
    await a.expect('sendpacket 1 10000 -', 'error usage*')
    await a.expect('nextpacket 1 50', 'error timeout')

    # Commands with a tag: neither waits for the one before it.
    a.process.stdin.write(b'@x nextpacket 1 10000\n@y sendpacket 1 10000 0b\n@z read 0003\nmtu\n')
    replies = sorted([await reply_of(a) for _ in range(4)])
    check('replies with tags', replies[:2] == ['@x ok 0b', '@y ok'] and replies[2].startswith('@z error usage')
          and replies[3].startswith('ok '), replies)

    # Two channels with one PSM; the end of each, from either side.
    await a.expect('channel 80 23 23', 'ok 2 65535')
    await a.expect('closechannel 1', 'ok')
    await a.expect('nextpacket 1 10000', 'error closed')
    await a.expect('sendpacket 1 10000 00', 'error closed')
    await a.expect('closechannel 1', 'ok')
    await a.expect('hold 1 yes', 'ok')
    check('the listener sees the end', await echoing.channels[0].ended(10), 'open')
    await a.expect('sendpacket 2 10000 627965', 'ok')
    await a.expect('nextpacket 2 10000', 'ok 68656c6c6f')
    await a.expect('nextpacket 2 10000', 'error closed')
    await a.expect('sendpacket 2 10000 00', 'error closed')

    # A central that holds stops the listener, and loses nothing.
    async def flood(channel):
        for number in range(300):
            await channel.send(number.to_bytes(2, 'big') * 50)
        await channel.receive()

    flooding = Listener(0x82, flood)
    await b.expect('channel 82 100', 'ok 1 *')
    await b.expect('nextpacket 1 10000', 'ok ' + '0000' * 50)
    await b.expect('hold 1 yes', 'ok')
    channel = flooding.channels[0]
    check('the listener is stopped', await channel.is_stopped(), channel.sent)
    stopped = channel.sent
    got, reply = 1, 'ok'
    while (reply := await b.ask('nextpacket 1 300')).startswith('ok'):
        got += reply == 'ok ' + ('%04x' % got) * 50
    check('what has arrived of %d packets, in order' % stopped, reply == 'error timeout' and got <= stopped < 300,
          (reply, got, stopped))
    check('the listener is still stopped', channel.sent == stopped, channel.sent)
    await b.expect('hold 1 no', 'ok')
    while got < 300 and await b.ask('nextpacket 1 10000') == 'ok ' + ('%04x' % got) * 50:
        got += 1
    check('the other packets, in order', got == 300, got)

    # A listener that does not read stops the central.
    async def ignore(channel):
        await channel.released.wait()
        while packet := await channel.receive():
            channel.got.append(packet)

    ignoring = Listener(0x83, ignore, mtu=500)
    await b.expect('channel 83 100', 'ok 2 500')
    sent, reply = 0, 'ok'
    while sent < 2000 and (reply := await b.ask('sendpacket 2 1000 ' + ('%04x' % sent) * 250)) == 'ok':
        sent += 1
    check('without credits -> error timeout', reply == 'error timeout', (reply, sent))
    channel = ignoring.channels[0]
    channel.released.set()
    await b.expect('sendpacket 2 10000 656e64', 'ok')
    packets = await channel.received(b'end')
    # Of the one that was too late, a part may have left.
    whole = [number.to_bytes(2, 'big') * 250 for number in range(sent + 1)]
    check('the listener has all packets', packets[:-1] in (whole, whole[:-1]), (len(packets), sent))

    # The end of the link ends what waits.
    b.process.stdin.write(b'@1 nextpacket 2 20000\n')
    await b.expect('disconnect', 'ok', '@1 error closed')
    reply = await reply_of(b)
    check('a channel when its link ends', reply in ('ok', '@1 error closed'), reply)
    await b.expect('sendpacket 2 10000 00', 'error closed')
    await b.expect('nextpacket 1 10000', 'error closed')
    await b.expect('channel 80 100', 'error gone*')
    await b.expect('connect 10000 service 18ff', 'ok 00:AA:01:00:00:42*')
    await b.expect('channel 80 100', 'ok 3 65535')
    await b.expect('nextpacket 3 10000', 'ok 68656c6c6f')
    for listener in (echoing, flooding, ignoring):
        check('no handler has failed', not listener.failures, listener.failures)
        listener.close()
    await b.expect('nextpacket 3 10000', 'error closed')


async def main():
    app = Application('/probe')
    service = app.service('s', '18ff')
    value = app.characteristic(service, 'value', '2aff', ['read', 'write', 'notify', 'indicate'], bytes(range(200)))
    refusing = app.characteristic(service, 'refusing', '2afe', ['read', 'write'])
    secret = app.characteristic(service, 'secret', '2afd', ['encrypt-read'], b's')
    app.answers[refusing, 'ReadValue'] = app.answers[refusing, 'WriteValue'] = \
        lambda call: Refused('org.bluez.Error.Failed', '0x9f')
    advertisement = app.advertisement(Type='peripheral', LocalName='probe', Discoverable=dbus.Boolean(True),
                                      ServiceUUIDs=dbus.Array(['18ff'], signature='s'))
    await asyncio.wrap_future(app.register())
    await asyncio.wrap_future(app.advertise(advertisement))

    await commands()
    a, b = await Central.start(), await Central.start()
    await a.expect('hello 5', 'ok 5 bumble*')
    await a.expect('hello 0', 'error usage*')
    await a.expect('fly', 'error usage*')
    await a.expect('scan 100', 'error usage*')
    await a.expect('open F0:00:00:00:00:01', 'ok')
    await b.expect('open F0:00:00:00:00:02', 'ok')
    heard = 'advertiser 00:AA:01:00:00:42 public connectable %s 18ff 0303ff18020106 060970726f6265' % NAME
    await a.expect('scan 10000 service 18ff', 'ok ' + heard)
    await a.expect('scan 200 service 18fe', 'ok')
    await a.expect('connect 200 service 18fe', 'error timeout')
    await a.expect('read 0003', 'error gone')
    await a.expect('connect 10000 service 18ff mtu 64', 'ok 00:AA:01:00:00:42*')
    await b.expect('connect 10000 name ' + NAME, 'ok 00:AA:01:00:00:42*')
    found = await a.expect('discover', 'ok service 0001*')
    await b.expect('discover', found)
    await a.expect('mtu', 'ok 64')
    v, r = handle(found, '2aff'), handle(found, '2afe')
    check('properties', 'characteristic %s 3a 2aff descriptor' % v in found, found)
    everything = bytes(range(200)).hex()
    await a.expect('read ' + v, 'ok ' + everything[:126])
    await a.expect('readblob %s 198' % v, 'ok c6c7')
    await a.expect('readblob %s 201' % v, 'error att 0x07')
    await a.expect('readlong ' + v, 'ok ' + everything)
    await a.expect('write %s 0102' % v, 'ok')
    check('the application has it', app.values[value] == b'\1\2', app.values[value])
    await a.expect('prepare %s 0 0a0b' % v, 'ok 0 0a0b')
    await a.expect('prepare %s 2 0c' % v, 'ok 2 0c')
    await a.expect('execute', 'ok')
    check('the application has the parts joined', app.values[value] == b'\x0a\x0b\x0c', app.values[value])
    await a.expect('prepare %s 0 ff' % v, 'ok 0 ff')
    await a.expect('cancel', 'ok')
    await a.expect('write %s -' % v, 'ok')
    await a.expect('read ' + v, 'ok -')
    await a.expect('read ' + r, 'error att 0x9f')
    await a.expect('write %s 00' % r, 'error att 0x9f')
    await a.expect('read 7000', 'error att 0x01')
    await a.expect('subscribe %s notify' % r, 'error usage*')
    await a.expect('write %s 0' % v, 'error usage*')
    await a.expect('subscribe %s notify' % v, 'ok')
    await b.expect('subscribe %s indicate' % v, 'ok')
    await asyncio.wrap_future(app.notify(value, b'\x11'))
    await asyncio.wrap_future(app.notify(value, bytes(70)))
    await a.expect('next 10000', 'ok update %s notify 11 *' % v)
    await b.expect('next 10000', 'ok update %s indicate 11 *' % v)
    await a.expect('next 10000', 'ok update %s notify %s *' % (v, '00' * 61))
    await b.expect('next 10000', 'ok update %s indicate %s *' % (v, '00' * 70))
    await documents(app, value, v, a, b)
    await channels(a, b)
    await b.expect('discover', found)
    await b.expect('subscribe %s indicate' % v, 'ok')
    await a.expect('unsubscribe ' + v, 'ok')
    await asyncio.wrap_future(app.notify(value, b'\x12'))
    await b.expect('next 10000', 'ok update %s indicate 12 *' % v)
    await a.expect('next 0', 'error timeout')

    await a.expect('disconnect', 'ok')
    await a.expect('connect 10000 service 18ff', 'ok 00:AA:01:00:00:42*')
    await pairing(app, a, handle(found, '2afd'))

    # A disconnection does not wait for the request that is under way.
    app.take()
    app.answers[value, 'ReadValue'] = lambda call: None
    waiting = asyncio.ensure_future(b.ask('read ' + v))
    while not any(c.member == 'ReadValue' and c.path == value for c in app.take()):
        await asyncio.sleep(0.05)
    b.process.stdin.write(b'disconnect\n')
    reply = await waiting
    check('a read when the central disconnects -> error gone*', reply.startswith('error gone'), reply)
    reply = (await asyncio.wait_for(b.process.stdout.readline(), 20)).decode().rstrip('\n')
    check('disconnect after it -> ok', reply == 'ok', reply)
    await b.expect('next 1000', 'ok disconnected 0x16 *', 'ok disconnected 0x13 *')
    await b.expect('disconnect', 'error gone*')

    # A link that is lost ends what waits for it.
    waiting = asyncio.ensure_future(a.ask('read ' + v))
    while not any(c.member == 'ReadValue' and c.path == value for c in app.take()):
        await asyncio.sleep(0.05)
    await ctl('cut')
    reply = await waiting
    check('a read when the link is lost -> error gone 0x08', reply == 'error gone 0x08', reply)
    await a.expect('next 1000', 'ok disconnected 0x08 *')
    await b.expect('close', 'ok')
    a.process.stdin.close()
    for name, central in (('close', b), ('the end of the input', a)):
        status = await asyncio.wait_for(central.process.wait(), 20)
        check('%s ends the process' % name, status == 0, status)
    print('%d passed, %d failed' % (passed, failed), flush=True)


if __name__ == '__main__':
    try:
        asyncio.run(asyncio.wait_for(main(), 120))
    except Exception as error:
        print('FAIL  %s: %s\n%d passed, %d failed' % (type(error).__name__, error, passed, failed + 1), flush=True)
        failed += 1
    os._exit(1 if failed else 0)
