#!/usr/bin/env python3
"""The system test of other examples than heart-rate-sensor, and of services by clients that are not ours.

    rig/run-in-vm --timeout 400 -- python3 examples_test.py FOLDER-OF-THE-EXAMPLES [PART...]

Runs inside the rig, with bluetoothd up; checks and ends as heart_rate_test.py does.
"""

import asyncio
import os
import random
import signal
import struct
import sys
import tempfile
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'rig'))
from bumble import att, hci  # noqa: E402
from bumble.core import UUID  # noqa: E402
from bumble.device import Peer  # noqa: E402
from bumble.l2cap import L2capError  # noqa: E402
from bumble.profiles.battery_service import BatteryServiceProxy  # noqa: E402
from bumble.profiles.device_information_service import DeviceInformationServiceProxy  # noqa: E402
from bumble.profiles.heart_rate_service import HeartRateService, HeartRateServiceProxy  # noqa: E402
from bumble_channel import Channel  # noqa: E402
from central import Central, RigError  # noqa: E402
from checks import Program, check, run_parts  # noqa: E402

UART = '6e400001-b5a3-f393-e0a9-e50e24dcca9e'
RX = '6e400002-b5a3-f393-e0a9-e50e24dcca9e'
TX = '6e400003-b5a3-f393-e0a9-e50e24dcca9e'
TEXT = 'Typed by Swift, over Bluetooth.'
# bluetoothd before 5.76 reaches several subscribers only together.
VERSION = tuple(int(part) for part in os.environ.get('BLUEZ_VERSION', '5.66').split('.'))
REACHES_ONE_OF_SEVERAL = VERSION >= (5, 76)


async def end(program):
    status, _, err = await program.end(signal.SIGTERM)
    check('SIGTERM: exit 0', status == 0, 'status %s %s' % (status, err[:500]))


async def connect(central, **found_by):
    """(what advertises, Bumble's client of it): it knows all that there is."""
    advertiser = await central.find(seconds=30, **found_by)
    connection = await central.device.connect(
        advertiser.address, own_address_type=hci.OwnAddressType.RANDOM, timeout=20)
    peer = Peer(connection)
    await peer.discover_all()
    return advertiser, peer


# ------------------------------------------------------------------------ profile clients
async def profiles(folder):
    """Heart Rate, Battery and Device Information, as Bumble's own clients understand them: it has no others of our services."""
    program = await Program.start(folder + '/heart-rate-sensor', '--adapter', 'hci0', '--duration', '90s')
    async with await Central.open() as central:
        _, peer = await connect(central, service='180d')

        heart = peer.create_service_proxy(HeartRateServiceProxy)
        if check('Bumble finds a heart rate service', heart):
            location = await heart.body_sensor_location.read_value()
            check('the sensor is on the chest', location == HeartRateService.BodySensorLocation.CHEST, location)
            measurements = asyncio.Queue()
            await heart.heart_rate_measurement.subscribe(measurements.put_nowait)
            measurement = await asyncio.wait_for(measurements.get(), 10)
            check('a measurement', 30 <= measurement.heart_rate <= 220, measurement)
            await heart.reset_energy_expended()
            while (measurement := await asyncio.wait_for(measurements.get(), 10)).energy_expended is None:
                pass
            check('the energy expended was reset', measurement.energy_expended <= 1, measurement.energy_expended)

        battery = peer.create_service_proxy(BatteryServiceProxy)
        if check('Bumble finds a battery service', battery):
            level = await battery.battery_level.read_value()
            check('a battery level', 0 <= level <= 100, level)
            await battery.battery_level.subscribe(lambda value: None)

        # bluetoothd has a service of the same type, of its PnP ID alone.
        proxies = [DeviceInformationServiceProxy(service) for service in peer.get_services_by_uuid(
            DeviceInformationServiceProxy.SERVICE_CLASS.UUID)]
        information = next((proxy for proxy in proxies if proxy.manufacturer_name), None)
        if check('Bumble finds device information', information):
            for name in 'manufacturer_name', 'model_number', 'firmware_revision':
                text = await getattr(information, name).read_value()
                check(name.replace('_', ' '), text.strip() and text.isprintable(), text)
        await peer.connection.disconnect()
    await end(program)


# ------------------------------------------------------------------------ Bumble's plain client, by the specification
class Characteristics:
    """The characteristics of a service, by their types."""

    def __init__(self, peer, service):
        found = peer.get_services_by_uuid(UUID.from_16_bits(service))
        self.all = {characteristic.uuid: characteristic for characteristic in found[0].characteristics} if found else {}

    def __getitem__(self, number):
        return self.all[UUID.from_16_bits(number)]

    async def updates(self, number):
        """What is notified or indicated from now on."""
        values = asyncio.Queue()
        await self[number].subscribe(values.put_nowait)
        return values


async def next_of(values, seconds=15.0):
    return await asyncio.wait_for(values.get(), seconds)


async def environmental_sensing(folder):
    """Environmental Sensing 1.0, with the values of the GATT Specification Supplement."""
    program = await Program.start(folder + '/environmental-sensor', '--adapter', 'hci0', '--name', 'Weather', '--duration', '90s')
    check('the rig has no sensors', await program.says('This device has no sensor, so the values are simulated.'))
    async with await Central.open() as central:
        _, peer = await connect(central, name='Weather')
        sensing = Characteristics(peer, 0x181A)
        temperature, = struct.unpack('<h', await sensing[0x2A6E].read_value())
        check('a temperature of 19 to 22 °C, in hundredths', 1900 <= temperature <= 2200, temperature)
        humidity, = struct.unpack('<H', await sensing[0x2A6F].read_value())
        check('a humidity of 45 to 55 %, in hundredths', 4500 <= humidity <= 5500, humidity)
        pressure, = struct.unpack('<I', await sensing[0x2A6D].read_value())
        check('a pressure of 1007 to 1014 hPa, in tenths of a pascal', 1_007_000 <= pressure <= 1_014_000, pressure)
        trigger = sensing[0x2A6E].get_descriptor(UUID.from_16_bits(0x290D))
        if check('an ES Trigger Setting', trigger):
            setting = await peer.read_value(trigger)
            check('sent when it has changed', setting == b'\3', setting.hex())
        temperatures = await sensing.updates(0x2A6E)
        changes = [struct.unpack('<h', await next_of(temperatures))[0] for _ in range(3)]
        check('each temperature that is sent is another', all(a != b for a, b in zip(changes, changes[1:])), changes)
        await peer.connection.disconnect()
    await end(program)


def ride(value):
    """The speed in hundredths of km/h and the power in watts of Indoor Bike Data (Fitness Machine Service 1.0, section 4.9)."""
    flags, speed = struct.unpack_from('<HH', value)
    offset = 4 + sum(size for bit, size in ((1, 2), (2, 2), (3, 2), (4, 3), (5, 2)) if flags & 1 << bit)
    return (None if flags & 1 else speed), (struct.unpack_from('<h', value, offset)[0] if flags & 1 << 6 else None)


async def fitness_machine(folder):
    """The Fitness Machine Service 1.0 of an indoor bike."""
    program = await Program.start(folder + '/indoor-bike', '--adapter', 'hci0', '--name', 'Bike', '--duration', '110s')
    async with await Central.open() as central:
        _, peer = await connect(central, service='1826')
        machine = Characteristics(peer, 0x1826)
        _, settings = struct.unpack('<II', await machine[0x2ACC].read_value())
        check('power and simulation can be set', settings == 1 << 3 | 1 << 13, hex(settings))
        powers = struct.unpack('<hhH', await machine[0x2AD8].read_value())
        check('0 to 400 W in steps of 1', powers == (0, 400, 1), powers)
        responses, status, data = [await machine.updates(number) for number in (0x2AD9, 0x2ADA, 0x2AD2)]

        async def ask(what, request, result):
            await machine[0x2AD9].write_value(request, with_response=True)
            response = await next_of(responses)
            check(what, response == bytes([0x80, request[0], result]), response.hex())

        await ask('no power without the control', struct.pack('<Bh', 5, 250), 5)
        await ask('the control', b'\0', 1)
        await ask('starts', b'\7', 1)
        check('tells that it has started', await next_of(status) == b'\4')
        await ask('no more power than there is', struct.pack('<Bh', 5, 401), 3)
        await ask('no speed to set', struct.pack('<BH', 2, 3000), 2)
        await ask('a power of 250 W', struct.pack('<Bh', 5, 250), 1)
        check('tells the power that is set', await next_of(status) == struct.pack('<Bh', 8, 250))
        speed = watts = 0
        for _ in range(30):
            speed, watts = ride(await next_of(data))
            if watts is not None and watts >= 245:
                break
        check('the rider comes to 250 W', watts is not None and 245 <= watts <= 255, watts)
        check('at a speed', speed is not None and 2000 < speed < 6000, speed)
        await ask('pauses', b'\x08\2', 1)
        check('tells that it pauses', await next_of(status) == b'\2\2')
        await peer.connection.disconnect()
    await end(program)


# ------------------------------------------------------------------------ uart-console
class Line:
    """A terminal line over Nordic's UART service."""

    def __init__(self, peer, received):
        self.peer, self.received = peer, received

    async def ask(self, command, seconds=30.0, write=None):
        """What the console answers, up to its prompt."""
        await (write or self.peer.write)(RX, command.encode() + b'\n')
        answer = b''
        while not answer.endswith(b'> '):
            answer += await self.received.next(seconds)
        return answer[:-2].decode()


async def uart_console(folder):
    program = await Program.start(folder + '/uart-console', '--adapter', 'hci0', '--name', 'Console', '--duration', '150s')
    async with await Central.open() as central, await Central.open(address='F0:00:00:00:00:02', max_mtu=23) as other:
        peer = await central.connect(name='Console', seconds=30)
        line = Line(peer, await peer.subscribe(TX))
        check('says what it is told to say', await line.ask('echo Hello') == 'Hello\n')
        check('also without response', await line.ask('echo Hello', write=peer.write_command) == 'Hello\n')
        check('refuses what it does not know', await line.ask('rm -rf /') == 'rm? Try help.\n')
        check('knows the time since its start', (await line.ask('uptime')).split()[0].isdecimal())

        # Far more than the queues hold: nothing is lost, and nothing is out of order.
        expected = ''.join('%d\n' % number for number in range(1, 1501))
        answer = await line.ask('count 1500', 60)
        check('counts to 1,500', answer == expected, '%d bytes' % len(answer))
        if not REACHES_ONE_OF_SEVERAL:
            await peer.disconnect()
        second = await other.connect(name='Console', seconds=30)
        other_line = Line(second, await second.subscribe(TX))
        if REACHES_ONE_OF_SEVERAL:
            answers = await asyncio.gather(line.ask('count 300', 60), other_line.ask('echo Another', 60))
            check('two phones get their answers, each its own',
                  answers == [''.join('%d\n' % number for number in range(1, 301)), 'Another\n'],
                  [len(answer) for answer in answers])
            await peer.disconnect()
        check('goes on when one has left', await other_line.ask('echo Still') == 'Still\n')
        answer = await other_line.ask('count 1500', 120)
        check('counts to 1,500 in small packets', answer == expected, 'MTU %d' % second.mtu)
        await second.disconnect()
    await end(program)


# ------------------------------------------------------------------------ keyboard
def usages():
    """What keys mean: (usage, shift) -> character (HID Usage Tables 1.12, section 10, on a keyboard of the US)."""
    table = {}
    for number, character in enumerate('abcdefghijklmnopqrstuvwxyz'):
        table[4 + number, False], table[4 + number, True] = character, character.upper()
    table.update({(0x28, False): '\n', (0x2C, False): ' ', (0x36, False): ',', (0x37, False): '.'})
    return table


async def typed(subscription, seconds=60.0):
    """The line that is typed."""
    characters, keys, text = usages(), set(), ''
    while not text.endswith('\n'):
        report = await subscription.next(seconds)
        if len(report) != 8:
            raise RigError('a report of %d bytes' % len(report))
        shift, now = bool(report[0] & 0x22), {key for key in report[2:] if key}
        text += ''.join(characters.get((key, shift), '?') for key in sorted(now - keys))
        keys = now
    return text


async def reports(peer):
    """The handles of the input and of the output report, by their Report Reference descriptors."""
    found = {}
    for service in await peer.discover():
        for characteristic in service['characteristics']:
            for descriptor in characteristic['descriptors']:
                if characteristic['uuid'] == '2a4d' and descriptor['uuid'] == '2908':
                    found[(await peer.read(descriptor['handle']))[1]] = characteristic['handle']
    return found


async def keyboard(folder):
    program = await Program.start(folder + '/keyboard', '--adapter', 'hci0', '--name', 'Keys', '--duration', '150s')
    async with await Central.open() as central:
        peer = await central.connect(name='Keys', seconds=30)
        check('advertises the service 1812', '1812' in peer.advertiser.json['uuids'], peer.advertiser.json['uuids'])
        check('looks like a keyboard', (peer.advertiser.json['adv'].get('appearance')
                                        or peer.advertiser.json['scan_response'].get('appearance')) == 0x03C1)
        try:
            await peer.read('2a4b')
            check('the report map needs encryption', False)
        except att.ATT_Error as error:
            check('the report map needs encryption', error.error_code in (0x05, 0x0F), error.error_code)
        if not peer.encrypted:
            await peer.pair()
        report_map = await peer.read('2a4b')
        check('paired: the report map is a keyboard\'s', report_map.startswith(bytes.fromhex('05010906a101')), report_map.hex())
        check('paired: HID 1.11', (await peer.read('2a4a'))[:2] == bytes.fromhex('1101'))
        check('paired: the report protocol', await peer.read('2a4e') == b'\1')
        pnp = [characteristic['handle'] for service in peer.services for characteristic in service['characteristics']
               if characteristic['uuid'] == '2a50']
        check('a PnP ID', pnp and all([len(await peer.read(handle)) == 7 for handle in pnp]))
        handles = await reports(peer)
        if check('an input and an output report', sorted(handles) == [1, 2], handles):
            text = await typed(await peer.subscribe(handles[1]))
            check('types its text', text == TEXT + '\n', text)
            await peer.write(handles[2], b'\2')
            check('hears of caps lock', await program.says('caps lock is on'))
            await peer.write_command(handles[2], b'\0')
            check('hears of its end', await program.says('caps lock is off'))
        await peer.disconnect()
        peer = await central.connect(name='Keys', seconds=30)
        check('returns encrypted, without pairing', peer.encrypted)
        check('returned: the report map is the same', await peer.read('2a4b') == report_map)
        await peer.disconnect()
    await end(program)


# ------------------------------------------------------------------------ file-drop
PSM = 'abdd8e30-ef37-4f9d-acba-f2bfa5d24ce6'
FILES = '5c3a0042-7e3c-4b6e-9d29-b3f1c0a1d001'
INSUFFICIENT_ENCRYPTION = 8


async def open_channel(peer):
    psm, = struct.unpack('<H', await peer.read(PSM))
    return await asyncio.wait_for(Channel.open(peer.connection, psm, mtu=512, mps=247), 10)


async def begin_upload(peer, name, content):
    """(the channel, the offset from which the peripheral wants the file)."""
    channel = await open_channel(peer)
    header = struct.pack('<QI', len(content), zlib.crc32(content))
    await asyncio.wait_for(channel.send(bytes([len(name)]) + name.encode() + header), 10)
    _, offset = struct.unpack('<BQ', await asyncio.wait_for(channel.receive(), 10))
    return channel, offset


async def send_file(channel, content):
    for start in range(0, len(content), channel.peer_mtu):
        await asyncio.wait_for(channel.send(content[start:start + channel.peer_mtu]), 10)


async def file_drop(folder):
    """An upload over a channel, which a disconnection interrupts."""
    content, half = random.Random(25).randbytes(300_000), 150_000
    with tempfile.TemporaryDirectory() as directory:
        program = await Program.start(
            folder + '/file-drop', '--adapter', 'hci0', '--name', 'Drop', '--directory', directory, '--duration', '150s')
        # Another address than in keyboard: bluetoothd keeps that bond, but the keys of the central are lost.
        async with await Central.open(address='F0:00:00:00:00:03') as central:
            peer = await central.connect(name='Drop', seconds=30)
            try:
                await open_channel(peer)
                check('a channel needs encryption', False)
            except L2capError as error:
                check('a channel needs encryption', error.error_code == INSUFFICIENT_ENCRYPTION, error.error_code)
            await peer.pair()
            channel, offset = await begin_upload(peer, 'song', content)
            check('paired: a new file begins at its first byte', offset == 0, offset)
            await send_file(channel, content[:half])
            await peer.disconnect()
            check('the upload is interrupted', await program.says('bytes of song, interrupted'))
            check('a partial file does not have its name', not os.path.exists(directory + '/song'))

            peer = await central.connect(name='Drop', seconds=30)
            files = await peer.subscribe(FILES)
            channel, offset = await begin_upload(peer, 'song', content)
            check('returned: the upload continues', half // 2 < offset <= half, '%d of %d bytes sent' % (offset, half))
            await send_file(channel, content[offset:])
            status = await asyncio.wait_for(channel.receive(), 20)
            check('the checksum is right', status == b'\1', status.hex())
            number, = struct.unpack('<I', await files.next())
            check('it notifies the number of files', number == 1, number)
            with open(directory + '/song', 'rb') as file:
                check('the file has the same bytes', file.read() == content)
            await peer.disconnect()
        await end(program)


# ------------------------------------------------------------------------ settings of bluetoothd
async def settings(folder):
    """The main.conf of the rig is the one that Debian installs."""
    program = await Program.start(folder + '/custom-lamp', '--adapter', 'hci0', '--duration', '30s')
    check('the lamp is on the air', await program.says('Lamp is advertising', 20))
    status, _, err = await program.end(signal.SIGTERM)
    check('SIGTERM: exit 0', status == 0, 'status %s %s' % (status, err[:500]))
    lines = err.splitlines()
    limits = [line for line in lines if '/etc/bluetooth/main.conf: ' not in line]
    # The lamp notifies only over secure links.
    expected = [] if REACHES_ONE_OF_SEVERAL else ['BlueZ before 5.76']
    check('it says in five lines at most what will harm it, and nothing else',
          1 <= len(lines) <= 5 and len(limits) == len(expected)
          and all(word in line for word, line in zip(expected, limits)), err[:3000])
    # From 5.77 on, each advertisement has an interval of its own.
    has_interval = VERSION >= (5, 77)
    for remedy, count in (('ReverseServiceDiscovery = false|Client = false', 1), ('MinConnectionInterval = 6', 1),
                          ('MinAdvertisementInterval = 160', 0 if has_interval else 1)):
        found = sum(any(word in line for word in remedy.split('|')) for line in lines)
        check('it says what to do: %s, in %d lines' % (remedy, count), found == count)


PARTS = {   # each with the seconds that it may take
    'profiles': (profiles, 90),
    'environmental_sensing': (environmental_sensing, 60),
    'fitness_machine': (fitness_machine, 100),
    'uart_console': (uart_console, 170),
    'keyboard': (keyboard, 120),
    'file_drop': (file_drop, 100),
    'settings': (settings, 40),
}

if __name__ == '__main__':
    sys.exit(asyncio.run(run_parts(PARTS, sys.argv[2:], os.path.abspath(sys.argv[1]))))
