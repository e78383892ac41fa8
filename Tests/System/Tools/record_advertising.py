#!/usr/bin/env python3
"""Records what the running bluetoothd and the kernel make of an advertisement's properties.

    rig/run-in-vm [--radio bumble-legacy] [--bluez RELEASE] -- python3 Tools/record_advertising.py

The plan of an advertisement and the emulator come from here. One line for each set of properties: the advertising
data and the scan response as heard, L for legacy or E for extended, c for connectable, s for scannable; or the
refusal. The last ones end some versions of bluetoothd, which is then started again.
"""

import asyncio
import os
import subprocess
import sys

SYSTEM = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(SYSTEM, 'rig'))
import dbus  # noqa: E402
from application import Application, HCI0, PROPERTIES, typed  # noqa: E402
from central import Central  # noqa: E402
from record_bluez import result, say  # noqa: E402

CUSTOM = '52490000-7269-6700-0000-0000000000%s'
MANAGER = 'org.bluez.LEAdvertisingManager1'


def strings(*texts):
    return dbus.Array(texts, signature='s')


def values(key, signature, data):
    return dbus.Dictionary({key(k): dbus.ByteArray(bytes(v), variant_level=1) for k, v in data.items()},
                           signature=signature)


def manufacturer(data):
    return {'ManufacturerData': values(dbus.UInt16, 'qv', data)}


def zeros(count):
    """Manufacturer data that takes this many bytes on the air."""
    return manufacturer({1: bytes(count - 4)})


def service_data(data):
    return {'ServiceData': values(str, 'sv', data)}


def raw(data):
    return {'Data': values(dbus.Byte, 'yv', data)}


def services(*uuids):
    return {'ServiceUUIDs': strings(*uuids)}


def solicit(*uuids):
    return {'SolicitUUIDs': strings(*uuids)}


def includes(*names):
    return {'Includes': strings(*names)}


def name(text='Pulse'):
    return {'LocalName': text}


def channel(text):
    return {'SecondaryChannel': text}


def appearance(number):
    return {'Appearance': dbus.UInt16(number)}


def interval(least=None, most=None):
    return {k: dbus.UInt32(v) for k, v in (('MinInterval', least), ('MaxInterval', most)) if v is not None}


def power(dbm):
    return {'TxPower': dbus.Int16(dbm)}


def response(properties):
    """The same for the scan response."""
    return {'ScanResponse' + k: v for k, v in properties.items()}


SHOWN = {'Discoverable': dbus.Boolean(True)}
HIDDEN = {'Discoverable': dbus.Boolean(False)}
BROADCAST = {'Type': 'broadcast'}
TX = includes('tx-power')
LONG32 = '12345678-0000-1000-8000-00805f9b34fb'

CASES = (
    # Flags.
    [()] + [(d, *rest) for d in (SHOWN, HIDDEN, {}) for rest in (
        (), (name(),), (name(), services('1800')), (TX,), (services('1800'), TX))]
    + [(SHOWN, {'DiscoverableTimeout': dbus.UInt16(20)}), (HIDDEN, {'DiscoverableTimeout': dbus.UInt16(20)}),
       (SHOWN, {'DiscoverableTimeout': dbus.UInt16(20)}, {'Timeout': dbus.UInt16(10)})]
    # Lengths.
    + [(d, name(), zeros(n)) for d in (SHOWN, HIDDEN, {}) for n in (28, 29, 30, 31, 32, 40, 200)]
    + [(d, TX, zeros(n)) for d in (SHOWN, HIDDEN, {}) for n in (25, 26, 28, 29, 40)]
    + [(SHOWN, name('n' * n)) for n in (29, 30)]
    # Fields.
    + [(SHOWN, services(u)) for u in ('180d', '12345678', LONG32, CUSTOM % '01')]
    + [(SHOWN, services('180d', CUSTOM % '01', '12345678')), (SHOWN, services('180d', '180d')),
       (HIDDEN, services(CUSTOM % '01', CUSTOM % '02')),
       (SHOWN, solicit('180d', '12345678')), (SHOWN, manufacturer({2: [1], 1: [2]})), (SHOWN, manufacturer({1: b''})),
       (SHOWN, service_data({'180f': [1], '12345678': [2]})), (SHOWN, service_data({CUSTOM % '01': [3]})),
       (SHOWN, service_data({'180f': b''})), (SHOWN, appearance(832)), (SHOWN, appearance(0xFFFF)),
       (SHOWN, services(CUSTOM % '01'), manufacturer({1: [1, 2, 3]}), appearance(832)),
       (SHOWN, raw({0x26: [1], 0x2F: [2]})), (HIDDEN, raw({0x26: [1]}))]
    + [(raw({t: [1]}),) for t in (0x00, 0x0C, 0x12, 0x24, 0x27, 0xFE, 0xFF)] + [(raw({0x2E: [1] * 6}),)]
    + [(SHOWN, includes(n)) for n in ('appearance', 'local-name', 'rsi')]
    # Secondary channels.
    + [(d, name(), services('1800'), channel(c)) for d in (SHOWN, HIDDEN, {}) for c in ('1M', '2M', 'Coded')]
    + [(SHOWN, name('n' * 60), channel('1M')), (SHOWN, TX, channel('1M')), (SHOWN, includes('local-name'), channel('1M'))]
    # Broadcasts.
    + [(BROADCAST, *rest) for rest in (
        (), (services('180d'),), (HIDDEN, services('180d')), (SHOWN,), (name(), services('180d')), (TX, services('180d')),
        (services('180d'), channel('1M')), (name(), services('180d'), channel('1M')), (name(), zeros(200)))]
    # Timing.
    + [(SHOWN, interval(*i)) for i in ((100, 200), (19, 200), (20, 20), (100, 10485759), (100, 10485760),
                                       (10241, 10241), (200, 100), (100,), (None, 100))]
    + [(SHOWN, TX, power(p)) for p in (-4, 20, 21)]
    # Scan responses.
    + [(SHOWN, response(services('180d'))),
       (SHOWN, name(), response({**services('180d'), **solicit('1801'), **manufacturer({1: [1]}),
                                 **service_data({'180f': [1]}), **raw({0x26: [1]})}))]
    + [(SHOWN, name('n' * n), response(services('180d'))) for n in (25, 26, 29)]
    + [(SHOWN, name('n' * 26), response(raw({0x26: [1]})))]
    + [(SHOWN, response(zeros(n))) for n in (31, 32)]
    + [(SHOWN, zeros(40), response(services('180d'))), (SHOWN, response(services('180d')), channel('1M')),
       (SHOWN, includes('local-name'), response(services('180d'))), (BROADCAST, response(services('180d')))]
    # What goes in one message to the kernel, and what does not.
    + [(SHOWN, zeros(241)), (zeros(244),), (SHOWN, TX, zeros(241)), (BROADCAST, name(), zeros(237)),
       (SHOWN, name('n' * 239), channel('1M')), (SHOWN, zeros(242)), (SHOWN, zeros(248)), (SHOWN, zeros(249))]
)


def show(value):
    return value.hex() or '-'


async def record(central, properties):
    app = Application('/a')
    try:
        path = app.advertisement(**{'Type': 'peripheral', **properties})
        reply = await result(app.advertise(path), 10)
        if reply != 'ok':
            say('    ' + reply)
            if 'NoReply' in reply:
                subprocess.run(['sh', os.path.join(os.environ['RIG_SRC'], 'ctl'), 'start-bluetoothd'])
            return
        heard = await central.scan(0.6, lambda a: a.reports >= 3)
        for a in heard:
            say('    adv %s rsp %s %s%s%s' % (show(a.adv), show(a.rsp), 'L' if a.legacy else 'E',
                                              'c' if a.connectable else '', 's' if a.scannable else ''))
        if not heard:
            say('    nothing is heard')
        await result(app.unadvertise(path))
    finally:
        app.close()


async def main():
    app = Application('/manager')
    say('- ' + await result(app.call(HCI0, PROPERTIES, 'GetAll', 's', MANAGER)))
    app.close()
    async with await Central.open() as central:
        for case in CASES:
            properties = {k: v for part in case for k, v in part.items()}
            say('- ' + typed(dbus.Dictionary(properties, signature='sv')))
            await record(central, properties)


if __name__ == '__main__':
    asyncio.run(main())
