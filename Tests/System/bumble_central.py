#!/usr/bin/env python3
"""A central that a program drives by lines of text: PROTOCOL.md says how.

It runs inside the rig. One process is one central.
"""

import asyncio
import collections
import logging
import os
import random
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'rig'))
import bumble  # noqa: E402
from bumble import att, core, hci, l2cap  # noqa: E402
from bumble.gatt_client import Client  # noqa: E402
from bumble.keys import MemoryKeyStore  # noqa: E402
from bumble.pairing import PairingConfig, PairingDelegate  # noqa: E402
from bumble_channel import Channel, Closed  # noqa: E402
from central import IO, PROPERTIES, Central, RigError, norm  # noqa: E402

VERSION = '5'
BY_THE_USER = 0x13      # the usual reason of a disconnection
REQUEST = 30.0          # seconds: the ATT transaction time-out of the specification
PROCEDURE = 60.0        # seconds: procedures of many requests
LONGEST_WAIT = 120_000  # milliseconds that a command may ask for
PERIOD = 65536
PATTERN = bytes((p * 167 ^ p >> 8) & 0xFF for p in range(PERIOD)) * 2    # of sendmany
QUEUE = 4096            # events that wait to be fetched; then the oldest are lost


class Usage(Exception):
    """The line cannot be understood, or not now."""


class Gone(Exception):
    """There is no link (any more)."""


def parse_number(text, low, high, base=10):
    try:
        value = int(text, base)
    except ValueError:
        raise Usage('%s is not a number' % text) from None
    if not low <= value <= high:
        raise Usage('%s is out of range' % text)
    return value


def parse_handle(text):
    return parse_number(text, 0, 0xFFFF, 16)


def parse_reason(text):
    return parse_number(text, 0, 0xFF, 16)


def parse_bytes(text):
    try:
        return b'' if text == '-' else bytes.fromhex(text)
    except ValueError:
        raise Usage('%s is not hex' % text) from None


def show_bytes(value):
    return bytes(value).hex() or '-'


def parse_target(words):
    """'service UUID', 'name HEX' or 'address A' -> the arguments of Central.find."""
    if len(words) != 2 or words[0] not in ('service', 'name', 'address'):
        raise Usage('service UUID, name HEX or address ADDRESS is needed')
    kind, value = words
    if kind == 'name':
        value = parse_bytes(value).decode('utf-8', 'replace')
    if kind == 'service':
        try:
            norm(value)
        except ValueError:
            raise Usage('%s is not a UUID' % value) from None
    return {kind: value}


def show_advertiser(advertiser):
    j = advertiser.json
    return ' '.join((
        'advertiser', j['address'], j['address_type'],
        'connectable' if j['connectable'] else 'broadcasting',
        show_bytes((j['name'] or '').encode()), ','.join(j['uuids']) or '-',
        show_bytes(advertiser.adv), show_bytes(advertiser.rsp)))


class Events:
    """What happened by itself, until it is fetched; bounded."""

    def __init__(self):
        self.waiting = collections.deque()
        self.lost = 0
        self.arrived = asyncio.Event()

    def put(self, text):
        if len(self.waiting) == QUEUE:
            self.waiting.popleft()
            self.lost += 1
        self.waiting.append('%s %d' % (text, time.monotonic_ns() // 1000))
        self.arrived.set()

    async def next(self, seconds):
        if not self.waiting:
            self.arrived.clear()
            await asyncio.wait_for(self.arrived.wait(), seconds)
        if self.lost:
            lost, self.lost = self.lost, 0
            return 'lost %d' % lost
        return self.waiting.popleft()

    def clear(self):
        self.waiting.clear()
        self.lost = 0


class Person(PairingDelegate):
    """Has the questions of a pairing answered by the one who drives."""

    def __init__(self, capability):
        super().__init__(io_capability=IO[capability])
        self.questions = asyncio.Queue()
        self.reply = None

    async def ask(self, question):
        self.reply = asyncio.get_running_loop().create_future()
        self.questions.put_nowait(question)
        return await self.reply

    def answer(self, word):
        """Answers the question that is open; without effect when none is."""
        if self.reply is not None and not self.reply.done():
            self.reply.set_result(word)

    async def display_number(self, number, digits):
        await self.ask('display %06d' % number)

    async def get_number(self):
        word = await self.ask('passkey')
        return int(word) if word.isdigit() else None

    async def compare_numbers(self, number, digits):
        return await self.ask('compare %06d' % number) == 'yes'


class Driver:
    """Carries out the commands: each method's name and arguments are the line's."""

    def __init__(self):
        self.central = None
        self.peer = None
        self.leaving = None
        self.person = None
        self.bonding = None
        self.has_forgotten = False
        self.forgotten = MemoryKeyStore()
        self.is_enhanced = False
        self.events = Events()
        self.channels = []

    # ---------------------------------------------------------------- helpers
    def opened(self):
        if self.central is None:
            raise Usage('open first')
        return self.central

    def connected(self):
        if self.peer is None or self.peer.disconnected.done():
            raise Gone()
        return self.peer

    async def on_link(self, coroutine, seconds=REQUEST):
        """The result of the coroutine; Gone as soon as the link is."""
        work = asyncio.ensure_future(coroutine)
        gone = asyncio.ensure_future(asyncio.shield(self.peer.disconnected))
        try:
            await asyncio.wait({work, gone}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if work.cancelled():    # by Bumble, which sees the disconnection first
                await asyncio.wait({gone}, timeout=1)
                raise Gone()
            if work.done():
                return work.result()
            raise Gone() if gone.done() else asyncio.TimeoutError()
        finally:
            work.cancel()
            gone.cancel()
            await asyncio.gather(work, gone, return_exceptions=True)

    def listen(self, peer):
        """Every update goes to the queue, subscribed or not."""
        self.confirms, self.unconfirmed = True, 0

        def update(kind, pdu):
            self.events.put('update %04x %s %s' % (pdu.attribute_handle, kind, show_bytes(pdu.attribute_value)))

        def indication(client, pdu):
            update('indicate', pdu)
            if self.confirms:
                client.send_confirmation(att.ATT_Handle_Value_Confirmation())
            else:
                self.unconfirmed += 1

        def hear(client):
            client.on_att_handle_value_notification = lambda pdu: update('notify', pdu)
            client.on_att_handle_value_indication = lambda pdu: indication(client, pdu)
        self.hear = hear
        hear(peer.client)
        peer.connection.on('disconnection', lambda reason: self.events.put('disconnected 0x%02x' % reason))

    async def enhance(self):
        """Has requests go over an Enhanced ATT bearer from now on, where the rig has those, and takes updates from all."""
        peer, count = self.connected(), int(os.environ.get('BUMBLE_EATT', '0'))
        if not count or self.is_enhanced or not peer.encrypted:
            return
        size = max(64, self.opened().device.gatt_server.max_mtu)
        spec = l2cap.LeCreditBasedChannelSpec(psm=att.EATT_PSM, mtu=size, mps=247)
        bearers = await self.on_link(Client.connect_eatt(peer.connection, spec, count))
        self.is_enhanced = True
        for client in bearers if count > 1 else [bearers]:
            # Both ends say in making the bearer how much they take (Core Specification, Vol 3, Part F, 3.2.8).
            client.mtu = min(size, client.bearer.peer_mtu)
            self.hear(client)
            peer.client = client

    # ---------------------------------------------------------------- commands
    async def hello(self, version):
        if version != VERSION:
            raise Usage('this is version %s' % VERSION)
        return '%s bumble %s' % (VERSION, bumble.__version__)

    async def open(self, address):
        if self.central is not None:
            raise Usage('open already')
        try:
            octets = bytes.fromhex(address.replace(':', ''))
        except ValueError:
            octets = b''
        if len(octets) != 6 or octets[0] < 0xC0:
            raise Usage('%s is not a static random address' % address)
        self.central = await asyncio.wait_for(Central.open(address=address), REQUEST)
        return ''

    async def scan(self, milliseconds, *target):
        central = self.opened()
        seconds = parse_number(milliseconds, 1, LONGEST_WAIT) / 1000
        wanted = parse_target(target) if target else {}
        heard = await central.scan(seconds, (lambda a: a.connectable and a.matches(**wanted)) if target else None)
        return ' '.join(show_advertiser(a) for a in heard if a.matches(**wanted))

    async def connect(self, milliseconds, *target):
        central = self.opened()
        if self.peer is not None and not self.peer.disconnected.done():
            raise Usage('connected already')
        seconds = parse_number(milliseconds, 1, LONGEST_WAIT) / 1000
        encrypting = target[-1:] != ('clear',)
        if not encrypting:
            target = target[:-1]
        mtu = 517
        if target[-2:-1] == ('mtu',):
            mtu = parse_number(target[-1], 23, 517)
            target = target[:-2]
        wanted = parse_target(target)
        self.events.clear()
        central.device.gatt_server.max_mtu = mtu
        central.answer_security_requests = False  # whether to pair is the driver's to say
        try:
            self.peer = await asyncio.wait_for(
                central.connect(**wanted, seconds=seconds, encrypt=False), seconds + 5)
        except RigError:
            raise asyncio.TimeoutError() from None
        self.is_enhanced = False
        self.listen(self.peer)
        if await central.is_bonded(self.peer):
            if encrypting:
                try:
                    await self.on_link(self.peer.encrypt_when_asked())
                    await self.enhance()
                except hci.HCI_Error as error:  # the peripheral has no keys any more
                    logging.warning('not encrypted: %s', error)
            else:
                # The kernel drops the requests that a bonded central sends before it is asked to encrypt.
                await self.peer.wait_security_request(3)
        elif self.has_forgotten:
            # The peripheral may have kept its keys, and the kernel then drops requests as well.
            await self.peer.wait_security_request(1.5)
            self.has_forgotten = self.peer.security_requests > 0
        return '%s %d' % (self.peer.advertiser.json['address'], self.peer.mtu)

    async def encrypt(self):
        peer = self.connected()
        if not await self.opened().is_bonded(peer):
            raise Usage('pair first')
        await self.on_link(peer.encrypt())
        await self.enhance()
        return ''

    async def pair(self, capability, *words):
        peer = self.connected()
        if capability not in IO or not set(words) <= {'bonding', 'mitm', 'sc', 'public'}:
            raise Usage('pair %s [bonding] [mitm] [sc] [public]' % '|'.join(IO))
        self.person = person = Person(capability)
        device = peer.central.device
        # One that comes under its static address is not known by another one when it comes back.
        identity = 'PUBLIC' if 'public' in words and device.random_address != device.static_address else 'RANDOM'
        device.pairing_config_factory = lambda connection: PairingConfig(
            sc='sc' in words, mitm='mitm' in words, bonding='bonding' in words, delegate=person,
            identity_address_type=PairingConfig.AddressType[identity])
        self.bonding = asyncio.ensure_future(peer.connection.pair())
        self.bonding.add_done_callback(lambda bonding: bonding.cancelled() or bonding.exception())
        return await self.pairing()

    async def pairing(self):
        """The next question, or nothing when the two are paired."""
        self.connected()
        if self.bonding is None:
            raise Usage('pair first')
        # The other side may give up after 30 s, too, and its answer is the one that counts.
        question = await self.on_link(self.next_of_pairing(), PROCEDURE)
        if not question:
            await self.enhance()
        return question

    async def next_of_pairing(self):
        question = asyncio.ensure_future(self.person.questions.get())
        await asyncio.wait({question, self.bonding}, return_when=asyncio.FIRST_COMPLETED)
        if self.bonding.done():
            question.cancel()
            bonding, self.bonding = self.bonding, None
            return bonding.result() or ''
        return question.result()

    async def answer(self, word):
        """The person was told when the line was read."""
        return ''

    async def rotate(self):
        device = self.opened().device
        return await self.take_address(hci.Address.generate_private_address(device.irk))

    async def take_address(self, address):
        if self.peer is not None and not self.peer.disconnected.done():
            raise Usage('connected')
        device = self.opened().device
        # Bumble's own update_rpa gives the controller the address of before.
        await device.send_sync_command(hci.HCI_LE_Set_Random_Address_Command(random_address=address))
        device.random_address = address
        return str(address)[:17]

    async def forget(self):
        device = self.opened().device
        if device.random_address != device.static_address:
            await self.take_address(device.static_address)
        self.has_forgotten = bool(await device.keystore.get_all())
        if self.has_forgotten:
            self.forgotten = device.keystore
        device.keystore = MemoryKeyStore()
        return ''

    async def recall(self):
        self.has_forgotten = False
        self.opened().device.keystore = self.forgotten
        return ''

    async def mtu(self, size=None):
        peer = self.connected()
        if size is not None:
            await self.on_link(peer.exchange_mtu(parse_number(size, 23, 517)))
        return '%d' % peer.mtu

    async def discover(self):
        words = []
        for service in await self.on_link(self.connected().discover(), PROCEDURE):
            words.append('%s %04x %04x %s' % (
                'service' if service['primary'] else 'secondary', service['handle'], service['end'], service['uuid']))
            words.extend('include %04x %04x %04x %s' % included for included in service['included'])
            for c in service['characteristics']:
                bits = sum(1 << PROPERTIES.index(p) for p in c['properties'])
                words.append('characteristic %04x %02x %s' % (c['handle'], bits, c['uuid']))
                words.extend('descriptor %04x %s' % (d['handle'], d['uuid']) for d in c['descriptors'])
        return ' '.join(words)

    async def read(self, handle):
        return show_bytes(await self.on_link(self.connected().read_once(parse_handle(handle))))

    async def readblob(self, handle, offset):
        return show_bytes(await self.on_link(self.connected().read_blob(
            parse_handle(handle), parse_number(offset, 0, 0xFFFF))))

    async def readlong(self, handle):
        return show_bytes(await self.on_link(self.connected().read(parse_handle(handle)), PROCEDURE))

    async def write(self, handle, value):
        await self.on_link(self.connected().request(att.ATT_Write_Request(
            attribute_handle=parse_handle(handle), attribute_value=parse_bytes(value))))
        return ''

    async def writecmd(self, handle, value):
        await self.on_link(self.connected().write_command(parse_handle(handle), parse_bytes(value)))
        return ''

    async def prepare(self, handle, offset, value):
        at, part = await self.on_link(self.connected().prepare(
            parse_handle(handle), parse_number(offset, 0, 0xFFFF), parse_bytes(value)))
        return '%d %s' % (at, show_bytes(part))

    async def execute(self):
        await self.on_link(self.connected().execute())
        return ''

    async def cancel(self):
        await self.on_link(self.connected().execute(False))
        return ''

    async def subscribe(self, handle, kind):
        if kind not in ('notify', 'indicate'):
            raise Usage('notify or indicate')
        await self.configure(handle, b'\1\0' if kind == 'notify' else b'\2\0')
        return ''

    async def unsubscribe(self, handle):
        await self.configure(handle, b'\0\0')
        return ''

    async def configure(self, handle, value):
        peer = self.connected()
        if peer.services is None:
            raise Usage('discover first')
        try:
            _, cccd = await peer.cccd(parse_handle(handle))
        except RigError:
            raise Usage('%s has no client characteristic configuration' % handle) from None
        await self.on_link(peer.request(att.ATT_Write_Request(attribute_handle=cccd, attribute_value=value)))

    async def next(self, milliseconds):
        return await self.events.next(parse_number(milliseconds, 0, LONGEST_WAIT) / 1000)

    async def confirm(self, word):
        peer = self.connected()
        if word not in ('yes', 'no', 'once'):
            raise Usage('yes, no or once')
        if word != 'once':
            self.confirms = word == 'yes'
        for _ in range(self.unconfirmed if self.confirms else min(self.unconfirmed, word == 'once')):
            self.unconfirmed -= 1
            peer.client.send_confirmation(att.ATT_Handle_Value_Confirmation())
        return ''

    async def channel(self, psm, mtu, mps='247'):
        """MPS is 247 at first: such a PDU just fits into one packet of the link."""
        channel = await self.on_link(Channel.open(
            self.connected().connection, parse_number(psm, 0, 0xFFFF, 16), parse_number(mtu, 23, 0xFFFF),
            parse_number(mps, 23, 65533)))
        self.channels.append(channel)
        return '%d %d' % (len(self.channels), channel.peer_mtu)

    def numbered(self, number):
        return self.channels[parse_number(number, 1, len(self.channels)) - 1]

    async def sendpacket(self, number, milliseconds, packet):
        channel, packet = self.numbered(number), parse_bytes(packet)
        if not 1 <= len(packet) <= channel.peer_mtu:
            raise Usage('the channel has room for 1 to %d bytes' % channel.peer_mtu)
        seconds = parse_number(milliseconds, 1, LONGEST_WAIT) / 1000
        await asyncio.wait_for(channel.send(packet), seconds)
        return ''

    async def sendframe(self, number, frame):
        self.numbered(number).send_frame(parse_bytes(frame))
        return ''

    async def nextpacket(self, number, milliseconds):
        seconds = parse_number(milliseconds, 1, LONGEST_WAIT) / 1000
        return show_bytes(await asyncio.wait_for(self.numbered(number).receive(), seconds))

    async def sendmany(self, number, size, length):
        channel = self.numbered(number)
        size, length = parse_number(size, 1, 1 << 30), parse_number(length, 0, channel.peer_mtu)
        lengths, position, packets, start = random.Random(size), 0, 0, time.monotonic_ns()
        while position < size:
            count = min(length or lengths.randint(1, channel.peer_mtu), size - position)
            await asyncio.wait_for(channel.send(PATTERN[position % PERIOD:][:count]), REQUEST)
            position, packets = position + count, packets + 1
        return '%d %d' % ((time.monotonic_ns() - start) // 1000, packets)

    async def takemany(self, number, size):
        channel, size = self.numbered(number), parse_number(size, 1, 1 << 30)
        position, packets, start = 0, 0, time.monotonic_ns()
        while position < size:
            packet = await asyncio.wait_for(channel.receive(), REQUEST)
            if packet != PATTERN[position % PERIOD:][:len(packet)]:
                raise RigError('a byte from %d on is wrong' % position)
            position, packets = position + len(packet), packets + 1
        return '%d %d' % ((time.monotonic_ns() - start) // 1000, packets)

    async def hold(self, number, word):
        if word not in ('yes', 'no'):
            raise Usage('yes or no')
        self.numbered(number).hold(word == 'yes')
        return ''

    async def closechannel(self, number):
        await asyncio.wait_for(self.numbered(number).close(), REQUEST)
        return ''

    def leave(self, reason=BY_THE_USER):
        """Begins to disconnect; what is under way ends by it."""
        if self.leaving is None and self.peer is not None and not self.peer.disconnected.done():
            self.leaving = asyncio.ensure_future(self.part(self.peer, reason))

    async def part(self, peer, reason):
        """Disconnects. Bumble's controller never answers one that crosses the other side's."""
        work = asyncio.ensure_future(peer.disconnect(reason))
        gone = asyncio.ensure_future(asyncio.shield(peer.disconnected))
        try:
            done, _ = await asyncio.wait({work, gone}, timeout=REQUEST, return_when=asyncio.FIRST_COMPLETED)
            if not done:
                raise asyncio.TimeoutError()
            if not gone.done():
                work.result()
        finally:
            work.cancel()
            gone.cancel()

    async def disconnect(self, reason='13'):
        reason = parse_reason(reason)
        if self.leaving is None:
            self.connected()
            self.leave(reason)
        leaving, self.leaving = self.leaving, None
        await leaving
        return ''

    async def close(self):
        if self.central is not None:
            central, self.central = self.central, None
            await asyncio.wait_for(central.close(), REQUEST)
        return ''


COMMANDS = ('hello', 'open', 'scan', 'connect', 'mtu', 'discover', 'read', 'readblob', 'readlong', 'write', 'writecmd',
            'prepare', 'execute', 'cancel', 'subscribe', 'unsubscribe', 'confirm', 'next', 'encrypt', 'pair', 'pairing', 'answer',
            'forget', 'recall', 'rotate', 'disconnect', 'close')
CHANNEL_COMMANDS = (
    'channel', 'sendpacket', 'sendframe', 'nextpacket', 'sendmany', 'takemany', 'hold', 'closechannel')


async def answer(driver, line):
    """The reply to one line, whatever happens."""
    words = line.split()
    if not words or words[0] not in COMMANDS + CHANNEL_COMMANDS:
        return 'error usage unknown command'
    try:
        coroutine = getattr(driver, words[0])(*words[1:])
    except TypeError:
        return 'error usage wrong number of arguments'
    try:
        text = await coroutine
        return 'ok ' + text if text else 'ok'
    except Usage as error:
        return 'error usage %s' % error
    except Gone:
        reason = driver.peer.disconnect_reason if driver.peer else None
        return 'error gone 0x%02x' % reason if reason is not None else 'error gone'
    except Closed:
        return 'error closed'
    except att.ATT_Error as error:
        return 'error att 0x%02x' % error.error_code
    except l2cap.L2capError as error:
        return 'error channel 0x%04x' % error.error_code
    except core.ProtocolError as error:
        if error.error_namespace == 'smp':
            return 'error pairing 0x%02x' % error.error_code
        return failure(line, error)
    except (TimeoutError, asyncio.TimeoutError, core.TimeoutError):
        return 'error timeout'
    except Exception as error:
        return failure(line, error)


def failure(line, error):
    logging.exception('%s', line)
    return 'error failed %s' % ' '.join(('%s %s' % (type(error).__name__, error)).split())


async def listen(driver, lines):
    """Reads ahead, since a disconnection and what a person says do not wait for their turn."""
    loop = asyncio.get_running_loop()
    line = None
    while line is None or line and line.split()[:1] != ['close']:
        line = (await loop.run_in_executor(None, sys.stdin.buffer.readline)).decode('ascii', 'replace')
        words = line.split()
        if words[:1] == ['disconnect'] and len(words) <= 2:
            try:
                driver.leave(*map(parse_reason, words[1:]))
            except Usage:
                pass    # the reply says so
        if words[:1] == ['answer'] and len(words) == 2 and driver.person is not None:
            driver.person.answer(words[1])
        lines.put_nowait(line)


async def main():
    out, sys.stdout = sys.stdout, sys.stderr    # nothing but replies goes to the standard output
    logging.basicConfig(level=logging.ERROR, stream=sys.stderr)
    driver = Driver()
    lines = asyncio.Queue()
    listening = asyncio.ensure_future(listen(driver, lines))
    beside = set()

    async def answer_beside(tag, line):
        is_of_channels = line.partition(' ')[0].strip() in CHANNEL_COMMANDS
        reply = await answer(driver, line) if is_of_channels else 'error usage only commands of channels have a tag'
        print(tag, reply, file=out, flush=True)

    while True:
        line = await lines.get()
        if line.startswith('@'):
            tag, _, line = line.partition(' ')
            task = asyncio.ensure_future(answer_beside(tag.strip(), line))
            beside.add(task)
            task.add_done_callback(beside.discard)
            continue
        if line.strip():
            print(await answer(driver, line), file=out, flush=True)
        if not line or line.split()[:1] == ['close']:
            break
    listening.cancel()
    for task in beside:
        task.cancel()
    await driver.close()


if __name__ == '__main__':
    asyncio.run(main())
