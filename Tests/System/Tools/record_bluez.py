#!/usr/bin/env python3
"""Records how the running bluetoothd behaves toward a GATT application and an advertiser.

    rig/run-in-vm -- python3 Tools/record_bluez.py [SECTION...]

What the emulator imitates comes from here; run it again when another version of bluetoothd
matters. It checks nothing: it prints what it saw, by sections, for reading and comparing.
"""

import asyncio
import os
import sys
import time

SYSTEM = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(SYSTEM, 'rig'))
import dbus  # noqa: E402
from application import Application, Refused, typed, CHARACTERISTIC, HCI0, OBJECT_MANAGER, PROPERTIES, SERVICE  # noqa: E402
from bumble import att  # noqa: E402
from central import Central, RigError, ctl, norm, uuid_str  # noqa: E402

UUID = '52490000-7269-6700-0000-0000000000%s'
START = time.monotonic()


def say(text='', *details):
    print(text, *details, flush=True)


def title(text):
    say('\n## ' + text)


def show(calls, since=None):
    """The calls, with the time from the first (or from `since`)."""
    for c in calls:
        say('  %+7.3f s  %s' % (c.at - (since or calls[0].at), c))
    if not calls:
        say('  (no call)')


async def result(future, timeout=30):
    """'ok ...' or the error of a D-Bus call."""
    try:
        values = await asyncio.wait_for(asyncio.wrap_future(future), timeout)
        return 'ok' + (' ' + ', '.join(typed(v) for v in values) if values else '')
    except Refused as error:
        return str(error)
    except (TimeoutError, asyncio.TimeoutError):
        return 'no reply in %g s' % timeout


async def answer(coroutine, timeout=40):
    """What the central saw: the value, or the ATT error's code."""
    try:
        value = await asyncio.wait_for(coroutine, timeout)
        if isinstance(value, tuple):  # the echo of a prepared write
            return 'ok, echo of %d bytes at %d' % (len(value[1]), value[0])
        return 'ok %s' % value.hex() if isinstance(value, bytes) else 'ok'
    except att.ATT_Error as error:
        return 'ATT error 0x%02x' % error.error_code
    except (TimeoutError, asyncio.TimeoutError):
        return 'nothing in %g s' % timeout
    except Exception as error:
        return '%s: %s' % (type(error).__name__, error)


async def settle(application, seconds=0.4):
    """The calls, once none has come for a while."""
    n = -1
    while n != len(application.calls):
        n = len(application.calls)
        await asyncio.sleep(seconds)
    return application.take()


class Stage:
    """An application with one characteristic of each kind, advertised, and a central connected to it."""

    def __init__(self):
        self.app = app = Application('/rec')
        self.s = s = app.service('s0', UUID % 'ff')
        self.rw = app.characteristic(s, 'rw', UUID % '01', ['read', 'write', 'write-without-response'], b'value')
        self.long = app.characteristic(s, 'long', UUID % '02', ['read', 'write'], bytes(i & 255 for i in range(512)))
        self.ro = app.characteristic(s, 'ro', UUID % '03', ['read'], b'ro')
        self.wo = app.characteristic(s, 'wo', UUID % '04', ['write'])
        self.notify = app.characteristic(s, 'notify', UUID % '05', ['notify'])
        self.indicate = app.characteristic(s, 'indicate', UUID % '06', ['indicate'])
        self.both = app.characteristic(s, 'both', UUID % '07', ['read', 'notify', 'indicate'], b'both')
        self.reliable = app.characteristic(s, 'reliable', UUID % '08', ['read', 'write', 'reliable-write'], b'r')
        self.described = app.characteristic(s, 'described', UUID % '09', ['read'], b'd')
        self.d1 = app.descriptor(self.described, 'd1', '2901', ['read'], b'text')
        self.d2 = app.descriptor(self.described, 'd2', UUID % 'd2', ['read', 'write'], b'd2')
        self.command = app.characteristic(s, 'command', UUID % '0a', ['write-without-response'])
        self.authorize = app.characteristic(s, 'authorize', UUID % '0b', ['read', 'write', 'authorize'], b'a')
        self.encrypted = app.characteristic(s, 'encrypted', UUID % '0c', ['encrypt-read', 'encrypt-write'], b'e')
        self.adv = app.advertisement(Type='peripheral', LocalName='rec',
                                     ServiceUUIDs=dbus.Array([UUID % 'ff'], signature='s'), Discoverable=dbus.Boolean(True))

    async def __aenter__(self):
        say('RegisterApplication:', await result(self.app.register()))
        say('RegisterAdvertisement:', await result(self.app.advertise(self.adv)))
        self.central = await Central.open()
        self.peer = await self.central.connect(service=UUID % 'ff')
        await self.peer.discover()
        await settle(self.app)
        return self

    async def __aexit__(self, *_):
        await self.central.close()
        if self.app.thread.is_alive():
            self.app.close()

    def handle(self, path):
        uuid = norm(self.app.objects[path][CHARACTERISTIC]['UUID'])
        for s in self.peer.services:
            for c in s['characteristics']:
                if c['uuid'] == uuid:
                    return c['handle']
        raise KeyError(path)

    async def step(self, what, coroutine, seconds=0.3):
        """One request of the central, what it got, and what the application was asked."""
        self.app.take()
        began = time.monotonic()
        got = await answer(coroutine)
        say('- %s -> %s (%.2f s)' % (what, got, time.monotonic() - began))
        show(await settle(self.app, seconds), began)


# ------------------------------------------------------------------------ sections
async def tree():
    """org.bluez without any application."""
    title('The object tree')
    app = Application()
    objects = (await asyncio.wrap_future(app.call('/', OBJECT_MANAGER, 'GetManagedObjects')))[0]
    for path, interfaces in objects.items():
        say(path)
        for interface, properties in interfaces.items():
            say('  ' + interface)
            for k, v in properties.items():
                say('    %s: %s' % (k, typed(v)))
    say('Introspect /org/bluez/hci0:')
    say((await asyncio.wrap_future(app.call(HCI0, 'org.freedesktop.DBus.Introspectable', 'Introspect')))[0])
    app.close()


async def registration():
    title('RegisterApplication')
    app = Application('/a')
    s = app.service('s0', '180d')
    c = app.characteristic(s, 'c0', '2a37', ['notify'])
    app.characteristic(s, 'c1', '2a38', ['read'], b'\x01')
    app.descriptor(c, 'd0', '2901', ['read'], b'text')
    began = time.monotonic()
    say(await result(app.register()), '%.3f s' % (time.monotonic() - began))
    show(await settle(app), began)
    say('signals of org.bluez:')
    show(app.signals, began)
    app.signals.clear()
    say('the same again:', await result(app.register()))
    show(await settle(app))
    title('RegisterAdvertisement')
    adv = app.advertisement(Type='peripheral', LocalName='x', ServiceUUIDs=dbus.Array(['180d'], signature='s'))
    began = time.monotonic()
    say(await result(app.advertise(adv)), '%.3f s' % (time.monotonic() - began))
    show(await settle(app), began)
    say('the same again:', await result(app.advertise(adv)))
    show(await settle(app))
    say('signals of org.bluez:')
    show(app.signals, began)
    app.signals.clear()
    say('LEAdvertisingManager1:', await result(app.call(HCI0, PROPERTIES, 'GetAll', 's', 'org.bluez.LEAdvertisingManager1')))
    title('Unregistering')
    began = time.monotonic()
    say('UnregisterAdvertisement:', await result(app.unadvertise(adv)))
    show(await settle(app), began)
    say('again:', await result(app.unadvertise(adv)))
    began = time.monotonic()
    say('UnregisterApplication:', await result(app.unregister()))
    show(await settle(app), began)
    say('again:', await result(app.unregister()))
    say('signals of org.bluez:')
    show(app.signals, began)
    say('RegisterApplication while another is pending (the first is not answered):')
    app.answers[None, 'GetManagedObjects'] = lambda call: None
    first = app.register()
    await asyncio.sleep(0.2)
    say('second, same path:', await result(app.register()))
    say('UnregisterApplication while pending:', await result(app.unregister()))
    say('first:', await result(first, 5))
    del app.answers[None, 'GetManagedObjects']
    app.close()


async def refusals():
    title('Refused applications')

    async def attempt(what, build, **kw):
        app = Application('/a')
        try:
            build(app)
            reply = await result(app.register(), **kw)
            say('- %s -> %s' % (what, reply))
            if reply.startswith('ok'):
                say('  unregister:', await result(app.unregister()))
        finally:
            app.close()

    def good(app):
        s = app.service('s0', '180d')
        app.characteristic(s, 'c0', '2a38', ['read'], b'\x01')
        return s

    def service(**properties):
        def build(app):
            s = good(app)
            for k, v in properties.items():
                if v is None:
                    del app.objects[s][SERVICE][k]
                else:
                    app.objects[s][SERVICE][k] = v
        return build

    def characteristic(**properties):
        def build(app):
            c = good(app) + '/c0'
            for k, v in properties.items():
                if v is None:
                    del app.objects[c][CHARACTERISTIC][k]
                else:
                    app.objects[c][CHARACTERISTIC][k] = v
        return build

    def replying(*reply):
        def build(app):
            app.answers[None, 'GetManagedObjects'] = lambda call: reply[0] if isinstance(reply[0], Refused) else reply
        return build

    flags = lambda *f: dbus.Array(f, signature='s')  # noqa: E731
    await attempt('good', good)
    await attempt('no objects', lambda app: None)
    await attempt('GetManagedObjects gives an error', replying(Refused('org.freedesktop.DBus.Error.Failed', 'no')))
    await attempt('GetManagedObjects gives a string', replying('s', 'x'))
    await attempt('GetManagedObjects gives nothing', replying(''))
    await attempt('an object without known interfaces', lambda app: app.objects.update({'/a/x': {'com.example.X': {}}}))
    await attempt('service without UUID', service(UUID=None))
    await attempt('service with bad UUID', service(UUID='xyz'))
    await attempt('service without Primary', service(Primary=None))
    await attempt('service Primary is a string', service(Primary='yes'))
    await attempt('secondary service', service(Primary=dbus.Boolean(False)))
    await attempt('service 1800', service(UUID='1800'))
    await attempt('service 1801', service(UUID='1801'))
    await attempt('service 180a', service(UUID='180a'))
    await attempt('service Includes of a wrong type', service(Includes='x'))
    await attempt('service Includes unknown path', service(Includes=dbus.Array([dbus.ObjectPath('/a/s9')], signature='o')))
    await attempt('service Handle 0x100', service(Handle=dbus.UInt16(0x100)))
    await attempt('service Handle 1 (taken)', service(Handle=dbus.UInt16(1)))
    await attempt('service Handle 0', service(Handle=dbus.UInt16(0)))
    await attempt('service only, no characteristic', lambda app: app.service('s0', '180d'))
    await attempt('characteristic without UUID', characteristic(UUID=None))
    await attempt('characteristic with bad UUID', characteristic(UUID='2a3'))
    await attempt('characteristic UUID 2800', characteristic(UUID='2800'))
    await attempt('characteristic without Service', characteristic(Service=None))
    await attempt('characteristic Service is a string', characteristic(Service='/a/s0'))
    await attempt('characteristic of another path', characteristic(Service=dbus.ObjectPath('/a/s1')))
    await attempt('characteristic without Flags', characteristic(Flags=None))
    await attempt('characteristic with empty Flags', characteristic(Flags=flags()))
    await attempt('characteristic with unknown flag', characteristic(Flags=flags('read', 'fly')))
    await attempt('characteristic Flags is a string', characteristic(Flags='read'))
    for f in ('broadcast', 'authenticated-signed-writes', 'reliable-write', 'writable-auxiliaries', 'encrypt-read',
              'encrypt-authenticated-read', 'secure-read', 'secure-write', 'authorize', 'extended-properties',
              'encrypt-notify', 'encrypt-authenticated-indicate', 'secure-notify'):
        await attempt('flag %s' % f, characteristic(Flags=flags('read', f)))

    def descriptor(uuid='2901', flags_=('read',), chrc='/a/s0/c0'):
        def build(app):
            c = good(app) + '/c0'
            d = app.descriptor(c, 'd0', uuid, list(flags_))
            app.objects[d]['org.bluez.GattDescriptor1']['Characteristic'] = dbus.ObjectPath(chrc)
        return build
    await attempt('descriptor', descriptor())
    await attempt('descriptor 2902', descriptor('2902', ('read', 'write')))
    await attempt('descriptor 2900', descriptor('2900'))
    await attempt('descriptor with flag notify', descriptor(flags_=('notify',)))
    await attempt('descriptor without flags', descriptor(flags_=()))
    await attempt('descriptor of an unknown characteristic', descriptor(chrc='/a/s0/c9'))

    def two(app):
        good(app)
        s = app.service('s1', '180d')
        app.characteristic(s, 'c0', '2a38', ['read'], b'\x01')
    await attempt('two services of one UUID', two)
    app = Application('/a')
    good(app)
    say('- wrong arguments ->', await result(app.call(HCI0, 'org.bluez.GattManager1', 'RegisterApplication', 'o', dbus.ObjectPath('/a'))))
    say('- path "/" ->', await result(app.register('/')))
    say('- unknown adapter ->', await result(app.register(adapter='/org/bluez/hci7')))
    say('- another root, whose GetManagedObjects is refused ->', await result(app.register('/b')))
    say('- unregister an unknown ->', await result(app.unregister('/zzz')))
    say('- unregister, wrong arguments ->', await result(app.call(HCI0, 'org.bluez.GattManager1', 'UnregisterApplication', 's', 'x')))
    app.close()
    app = Application('/a')
    app.answers[None, 'GetManagedObjects'] = lambda call: None
    began = time.monotonic()
    say('- GetManagedObjects not answered -> %s after %.1f s' % (
        await result(app.call(HCI0, 'org.bluez.GattManager1', 'RegisterApplication', 'oa{sv}', dbus.ObjectPath('/a'), {}, timeout=35), 36),
        time.monotonic() - began))
    app.close()

    title('Refused advertisements')

    async def advertise(what, answers=None, **properties):
        app = Application('/a')
        path = app.advertisement(**properties)
        app.answers.update(answers or {})
        began = time.monotonic()
        reply = await result(app.advertise(path), 20)
        say('- %s -> %s (%.2f s)' % (what, reply, time.monotonic() - began))
        if reply.startswith('ok'):
            say('  unregister:', await result(app.unadvertise(path)))
        app.close()

    strings = lambda *f: dbus.Array(f, signature='s')  # noqa: E731
    path = ('/a/adv', 'GetAll')
    await advertise('nothing at all')
    await advertise('Type only', Type='peripheral')
    await advertise('Type broadcast', Type='broadcast')
    await advertise('Type unknown', Type='x')
    await advertise('Type is a number', Type=dbus.UInt16(1))
    await advertise('bad UUID', Type='peripheral', ServiceUUIDs=strings('xyz'))
    await advertise('ServiceUUIDs is a string', Type='peripheral', ServiceUUIDs='180d')
    await advertise('too much (3 UUIDs of 128 bit)', Type='peripheral', ServiceUUIDs=strings(UUID % '01', UUID % '02', UUID % '03'))
    await advertise('one 128-bit UUID and 16 bytes of manufacturer data', Type='peripheral', ServiceUUIDs=strings(UUID % '01'),
                    ManufacturerData=dbus.Dictionary({dbus.UInt16(0xffff): dbus.ByteArray(bytes(16), variant_level=1)}, signature='qv'))
    await advertise('local-name twice', Type='peripheral', LocalName='x', Includes=strings('local-name'))
    await advertise('unknown include', Type='peripheral', Includes=strings('x'))
    await advertise('Includes tx-power', Type='peripheral', Includes=strings('tx-power'))
    await advertise('name of 40', Type='peripheral', LocalName='n' * 40)
    await advertise('name of 300', Type='peripheral', LocalName='n' * 300)
    await advertise('MinInterval only', Type='peripheral', MinInterval=dbus.UInt32(100))
    await advertise('both intervals', Type='peripheral', MinInterval=dbus.UInt32(100), MaxInterval=dbus.UInt32(200))
    await advertise('SecondaryChannel Coded', Type='peripheral', SecondaryChannel='Coded')
    await advertise('SecondaryChannel 2M', Type='peripheral', SecondaryChannel='2M')
    await advertise('Timeout 1', Type='peripheral', Timeout=dbus.UInt16(1))
    await advertise('Discoverable broadcast', Type='broadcast', Discoverable=dbus.Boolean(True))
    await advertise('GetAll refused', {path: lambda c: Refused('org.freedesktop.DBus.Error.UnknownObject', 'no')})
    await advertise('GetAll with no dictionary', {path: lambda c: ('s', 'x')})
    await advertise('GetManagedObjects answered', {(None, 'GetManagedObjects'): lambda c: ('a{oa{sa{sv}}}', {})}, Type='peripheral')
    await advertise('unknown property', Type='peripheral', Wings=dbus.Byte(2))
    app = Application('/a')
    say('- wrong arguments ->', await result(app.call(HCI0, 'org.bluez.LEAdvertisingManager1', 'RegisterAdvertisement', 'o', dbus.ObjectPath('/a'))))
    say('- unregister an unknown ->', await result(app.unadvertise('/zzz')))
    paths = [app.advertisement('adv%d' % i, Type='peripheral') for i in range(7)]
    for i, p in enumerate(paths):
        say('- advertisement %d ->' % (i + 1), await result(app.advertise(p)))
    app.close()
    title('Timeout: Release')
    await asyncio.sleep(1)  # the daemon drops those of the application that left
    app = Application('/a')
    p = app.advertisement(Type='peripheral', LocalName='t', Timeout=dbus.UInt16(1))
    began = time.monotonic()
    say(await result(app.advertise(p)))
    await asyncio.sleep(2)
    show(await settle(app), began)
    say('unregister after that:', await result(app.unadvertise(p)))
    app.close()


async def database():
    title('The database that a central discovers')
    async with await Central.open() as central:
        app = Application('/rec')
        adv = app.advertisement(Type='peripheral', LocalName='empty')
        say('advertisement only:', await result(app.advertise(adv)))
        peer = await central.connect(name='empty')
        await dump(peer)
        await peer.disconnect()
        app.close()
    async with Stage() as stage:
        say('objects in the order of GetManagedObjects:')
        for path in stage.app.objects:
            say('  ' + path)
        await dump(stage.peer)
        await stage.peer.disconnect()
    app = Application('/rec')
    for n in ('1', '2'):
        s = app.service('s' + n, '18f' + n)
    app.characteristic(app.root + '/s2', 'c', '2af2', ['read'], b'2')
    app.characteristic(app.root + '/s1', 'c', '2af1', ['read', 'notify'], b'1')
    p = app.advertisement(Type='peripheral', LocalName='order')
    say('two services, characteristics in the other order, after the removal of the former application:')
    say(await result(app.register()), await result(app.advertise(p)))
    async with await Central.open() as central:
        peer = await central.connect(name='order')
        await dump(peer)
        await peer.disconnect()
    app.close()


async def dump(peer):
    await peer.discover()
    say('MTU', peer.mtu)
    for s in peer.services:
        say('  service %s 0x%04x..0x%04x includes %s' % (s['uuid'], s['handle'], s['end'], s['includes']))
        for c in s['characteristics']:
            value = await answer(peer.read(c['handle'])) if 'read' in c['properties'] else '-'
            say('    0x%04x %s %s: %s' % (c['handle'], c['uuid'], ','.join(c['properties']), value))
            for d in c['descriptors']:
                say('      0x%04x %s: %s' % (d['handle'], d['uuid'], await answer(peer.read(d['handle']))))


async def options():
    title('Reads and writes: the calls')
    async with Stage() as t:
        peer, step = t.peer, t.step
        say('MTU that the central has:', peer.mtu, 'central', peer.central.device.random_address)
        await step('read', peer.read_once(t.handle(t.rw)))
        await step('blob at 2', peer.read_blob(t.handle(t.rw), 2))
        await step('blob at 5 (the end)', peer.read_blob(t.handle(t.rw), 5))
        await step('blob at 6 (past the end; the application says InvalidOffset)', peer.read_blob(t.handle(t.rw), 6))
        await step('long read of 512', peer.read(t.handle(t.long)))
        await step('read of 512: one request', peer.read_once(t.handle(t.long)))
        t.app.values[t.long] = bytes(600)
        await step('read of a value of 600', peer.read_once(t.handle(t.long)))
        await step('blob at 512 of a value of 600', peer.read_blob(t.handle(t.long), 512))
        await step('blob at 600 of a value of 600', peer.read_blob(t.handle(t.long), 600))
        t.app.values[t.long] = b''
        await step('read of an empty value', peer.read_once(t.handle(t.long)))
        await step('blob at 0 of an empty value', peer.read_blob(t.handle(t.long), 0))
        await step('write request', peer.write(t.handle(t.rw), b'hello'))
        await step('write request, empty', peer.write(t.handle(t.rw), b''))
        await step('write command', peer.write_command(t.handle(t.rw), b'cmd'))
        await step('write command on a command-only characteristic', peer.write_command(t.handle(t.command), b'cmd'))
        await step('write request on a command-only characteristic', peer.write(t.handle(t.command), b'req'))
        for n in (509, 510, 511, 512, 513, 514):
            await step('write request of %d' % n, peer.request(att.ATT_Write_Request(
                attribute_handle=t.handle(t.long), attribute_value=bytes(n))))
        await step('prepare at 0', peer.prepare(t.handle(t.rw), 0, b'abc'))
        await step('prepare at 3', peer.prepare(t.handle(t.rw), 3, b'def'))
        await step('execute', peer.execute())
        await step('prepare at 2', peer.prepare(t.handle(t.rw), 2, b'xy'))
        await step('execute', peer.execute())
        await step('prepare at 0', peer.prepare(t.handle(t.rw), 0, b'abc'))
        await step('prepare at 9 (a gap)', peer.prepare(t.handle(t.rw), 9, b'abc'))
        await step('execute', peer.execute())
        await step('prepare at 0', peer.prepare(t.handle(t.rw), 0, b'abc'))
        await step('cancel', peer.execute(False))
        await step('execute with nothing prepared', peer.execute())
        await step('prepare', peer.prepare(t.handle(t.rw), 0, b'abc'))
        await step('prepare on another characteristic', peer.prepare(t.handle(t.long), 0, b'abc'))
        await step('execute', peer.execute())
        await step('prepare on write-only', peer.prepare(t.handle(t.wo), 0, b'abc'))
        await step('execute', peer.execute())
        await step('prepare on a reliable-write characteristic', peer.prepare(t.handle(t.reliable), 0, b'abc'))
        await step('prepare at 3', peer.prepare(t.handle(t.reliable), 3, b'def'))
        await step('execute', peer.execute())
        await step('prepare, authorize flag', peer.prepare(t.handle(t.authorize), 0, b'abc'))
        await step('execute', peer.execute())
        await step('prepare on read-only', peer.prepare(t.handle(t.ro), 0, b'abc'))
        for i in range(0, 520, 100):
            await step('prepare at %d of 100' % i, peer.prepare(t.handle(t.long), i, bytes(100)), 0.1)
        await step('execute of 600', peer.execute())
        last = 'ok'
        n = 0
        while last.startswith('ok') and n < 40:
            last = await answer(peer.prepare(t.handle(t.long), n, b'x'))
            n += 1
        say('- prepare number %d -> %s' % (n, last))
        await step('cancel', peer.execute(False))
        d = {x['uuid']: x['handle'] for s in peer.services for c in s['characteristics'] for x in c['descriptors']}
        await step('descriptor: read', peer.read_once(d['2901']))
        await step('descriptor: blob at 1', peer.read_blob(d['2901'], 1))
        await step('descriptor: write', peer.write(d[norm(UUID % 'd2')], b'new'))
        await step('descriptor: write on read-only', peer.write(d['2901'], b'new'))
        await step('authorize flag: read', peer.read_once(t.handle(t.authorize)))
        await step('authorize flag: write', peer.write(t.handle(t.authorize), b'w'))
        title('Not permitted, not there')
        await step('read on write-only', peer.read_once(t.handle(t.wo)))
        await step('write on read-only', peer.write(t.handle(t.ro), b'x'))
        await step('write command on read-only', peer.write_command(t.handle(t.ro), b'x'))
        await step('read on notify-only', peer.read_once(t.handle(t.notify)))
        await step('write command on write-only (no write-without-response)', peer.write_command(t.handle(t.wo), b'x'))
        await step('read handle 0x7000', peer.read_once(0x7000))
        await step('read handle 0', peer.read_once(0))
        await step('write handle 0x7000', peer.write(0x7000, b'x'))
        await step('write to the declaration', peer.write(t.handle(t.rw) - 1, b'x'))
        await step('encrypted: read', peer.read_once(t.handle(t.encrypted)))
        await step('encrypted: write', peer.write(t.handle(t.encrypted), b'x'))
        await step('encrypted: write command', peer.write_command(t.handle(t.encrypted), b'x'))
        await step('read by type of the characteristic (UUID)', peer.request(att.ATT_Read_By_Type_Request(
            starting_handle=1, ending_handle=0xffff, attribute_type=att.UUID(UUID % '01'))))
        await step('read multiple', peer.request(att.ATT_Read_Multiple_Request(set_of_handles=[t.handle(t.ro), t.handle(t.rw)])))


async def mtu():
    title('MTU')
    for size in (23, 100, 185, 517):
        app = Application('/rec')
        s = app.service('s0', UUID % 'ff')
        c = app.characteristic(s, 'c', UUID % '01', ['read', 'notify'], bytes(600))
        adv = app.advertisement(Type='peripheral', LocalName='mtu%d' % size)
        say(await result(app.register()), await result(app.advertise(adv)))
        async with await Central.open(max_mtu=size) as central:
            peer = await central.connect(name='mtu%d' % size)
            await peer.discover()
            h = peer.services[-1]['characteristics'][0]['handle']
            app.take()
            value = await peer.read_once(h)
            say('- central of MTU %d: has %d after discovery; a read gives %d bytes' % (size, peer.mtu, len(value)))
            show(await settle(app))
            sub = await peer.subscribe(h)
            await asyncio.sleep(0.3)
            for n in (size - 4, size - 3, size - 2, 600):
                await asyncio.wrap_future(app.notify(c, bytes(max(0, n))))
                say('  notification of %d arrives with %d' % (n, len(await sub.next(5))))
            if size > 23:
                say('  the central asks for 50:', await answer(peer.exchange_mtu(50)), 'MTU', peer.mtu)
            await peer.disconnect()
        app.close()


async def errors():
    title('Error replies of ReadValue and WriteValue -> ATT error')
    async with Stage() as t:
        peer, app = t.peer, t.app
        failed = ['', 'no number', '0x80', '0x81', '0x9f', '0x9F', '0X85', '128', '129', '159', '160', '127', '0x7f', '0xa0', '0x03',
                  '0', '1', '0x80 text', ' 0x80', '80', '0200', '-128', '256', '0x180', '4294967424', '0xff']
        table = [('org.bluez.Error.Failed', text) for text in failed]
        table += [('org.bluez.Error.' + n, 'x') for n in (
            'NotPermitted', 'NotAuthorized', 'InvalidValueLength', 'InvalidOffset', 'NotSupported', 'InProgress',
            'ImproperlyConfigured', 'InvalidArguments', 'Rejected', 'Canceled', 'NotReady', 'DoesNotExist')]
        table += [('org.bluez.Error.NotPermitted', '0x85'), ('org.freedesktop.DBus.Error.Failed', '0x85'),
                  ('org.freedesktop.DBus.Error.UnknownMethod', 'x'), ('org.freedesktop.DBus.Error.NoReply', 'x'), ('com.example.Error', 'x')]
        h = t.handle(t.long)    # rw is served with NO_REPLY_EXPECTED: errors of writes go nowhere
        d = [x['handle'] for s in peer.services for c in s['characteristics'] for x in c['descriptors'] if x['uuid'] == norm(UUID % 'd2')][0]
        say('%-48s %-18s %-18s %-18s %-18s %s' % ('reply', 'read', 'write', 'execute', 'descriptor read', 'descriptor write'))
        for name, text in table:
            for member in ('ReadValue', 'WriteValue'):
                app.answers[None, member] = lambda call, n=name, x=text: Refused(n, x)
            out = [await answer(peer.read_once(h)), await answer(peer.write(h, b'x'))]
            await answer(peer.prepare(h, 0, b'x'))
            out += [await answer(peer.execute()), await answer(peer.read_once(d)), await answer(peer.write(d, b'x'))]
            say('%-48s %s' % ('%s %r' % (name, text), ' '.join('%-18s' % o for o in out)))
        replies = {'nothing': ('',), 'a string': ('s', 'x'), 'a byte': ('y', 1), 'au': ('au', [1]), 'ay and a string': ('ays', b'a', 'x'),
                   'an empty ay': ('ay', dbus.ByteArray(b'')), 'a variant of ay': ('v', dbus.ByteArray(b'ab'))}
        for what, reply in replies.items():
            for member in ('ReadValue', 'WriteValue'):
                app.answers[None, member] = lambda call, r=reply: r
            say('%-48s %s' % ('reply with ' + what, ' '.join('%-18s' % o for o in (
                await answer(peer.read_once(h)), await answer(peer.write(h, b'x')), '', await answer(peer.read_once(d)), await answer(peer.write(d, b'x'))))))
        for member in ('ReadValue', 'WriteValue'):
            app.answers[None, member] = lambda call: Refused('org.bluez.Error.InvalidOffset', '')
        say('blob at 2, InvalidOffset:', await answer(peer.read_blob(h, 2)))
        title('No answer')
        for member in ('ReadValue', 'WriteValue'):
            app.answers[None, member] = lambda call: None
        for what, request in (('read', peer.read_once(h)), ('write', peer.write(h, b'x')), ('descriptor read', peer.read_once(d))):
            await t.step(what, request)
        await answer(peer.prepare(h, 0, b'x'))
        await t.step('execute', peer.execute())
        say('the central is still connected:', not peer.disconnected.done())


async def subscriptions():
    title('Client characteristic configuration')
    async with Stage() as t:
        peer, app, step = t.peer, t.app, t.step
        for what, path in (('notify', t.notify), ('indicate', t.indicate), ('both', t.both)):
            h, cccd = await peer.cccd(t.handle(path))
            say('characteristic with %s: value 0x%04x, CCC 0x%04x' % (what, h, cccd))
            await step('read CCC', peer.read_once(cccd))
            for value in ('0100', '0000', '0200', '0000', '0300', '0000', '0400', '01', '', '010000', '0100', '0100', '0000', '0000'):
                await step('write CCC %s' % (value or '(empty)'), peer.request(att.ATT_Write_Request(
                    attribute_handle=cccd, attribute_value=bytes.fromhex(value))), 0.15)
                say('    reads back', await answer(peer.read_once(cccd)))
            await step('write command to CCC 0100', peer.write_command(cccd, b'\1\0'), 0.2)
            say('    reads back', await answer(peer.read_once(cccd)))
            await step('write CCC 0000', peer.write(cccd, b'\0\0'), 0.2)
            await step('blob at 1 of CCC', peer.read_blob(cccd, 1))
            await step('prepare CCC', peer.prepare(cccd, 0, b'\1\0'))
            await step('execute', peer.execute())
            say('    reads back', await answer(peer.read_once(cccd)))
            await step('write CCC 0000', peer.write(cccd, b'\0\0'), 0.2)
        title('Values')
        sub = await peer.subscribe(t.handle(t.notify))
        await settle(app)
        for what, make in (
                ('PropertiesChanged Value of 3', lambda: app.notify(t.notify, b'abc')),
                ('empty Value', lambda: app.notify(t.notify, b'')),
                ('Value of 600', lambda: app.notify(t.notify, bytes(600))),
                ('Value of 514', lambda: app.notify(t.notify, bytes(514))),
                ('Value invalidated', lambda: app.changed(t.notify, CHARACTERISTIC, {}, ['Value'])),
                ('Value is a string', lambda: app.changed(t.notify, CHARACTERISTIC, {'Value': 'text'})),
                ('Value is au', lambda: app.changed(t.notify, CHARACTERISTIC, {'Value': dbus.Array([1], signature='u')})),
                ('Value of another interface', lambda: app.changed(t.notify, SERVICE, {'Value': dbus.ByteArray(b'x')})),
                ('another property', lambda: app.changed(t.notify, CHARACTERISTIC, {'Notifying': dbus.Boolean(True)})),
                ('Value of an unsubscribed characteristic', lambda: app.notify(t.both, b'x')),
                ('Value of a characteristic without CCC', lambda: app.notify(t.ro, b'x'))):
            await asyncio.wrap_future(make())
            await asyncio.sleep(0.5)
            got = sub.drain()
            say('- %s -> %s' % (what, [g.hex() if len(g) < 20 else '%d bytes' % len(g) for g in got]), 'stray', [(h, v.hex()) for h, v in peer.stray])
            peer.stray.clear()
        isub = await peer.subscribe(t.handle(t.indicate), indicate=True)
        await settle(app)
        began = time.monotonic()
        for i in range(3):
            await asyncio.wrap_future(app.notify(t.indicate, b'i%d' % i))
        await asyncio.sleep(0.5)
        say('- 3 indications ->', [g.hex() for g in isub.drain()])
        show(app.take(), began)
        bsub = await peer.subscribe(t.handle(t.both), indicate=True)
        say('CCC 0003:', await answer(peer.write(bsub.cccd, b'\3\0')))
        await settle(app)
        began = time.monotonic()
        await asyncio.wrap_future(app.notify(t.both, b'x'))
        await asyncio.sleep(0.5)
        say('- notify and indicate, CCC 0002 -> as indication %s, as notification %s' % ([g.hex() for g in bsub.drain()], [(h, v.hex()) for h, v in peer.stray]))
        show(app.take(), began)
        peer.stray.clear()
        title('Disconnecting while subscribed')
        began = time.monotonic()
        await peer.disconnect()
        show(await settle(app, 1), began)
        say('RegisterAdvertisement again (still registered):', await result(app.advertise(t.adv)))
        say('unregister, register:', await result(app.unadvertise(t.adv)), await result(app.advertise(t.adv)))
        peer = t.peer = await t.central.connect(service=UUID % 'ff')
        await peer.discover()
        say('CCC after reconnection:', [(hex(c['handle']), await answer(peer.read_once(d['handle']))) for s in peer.services
                                       for c in s['characteristics'] for d in c['descriptors'] if d['uuid'] == '2902'])
        title('Link loss while subscribed')
        await peer.subscribe(t.handle(t.notify))
        await settle(app)
        began = time.monotonic()
        await ctl('cut')
        await peer.wait_disconnected(5)
        show(await settle(app, 1), began)
        title('Unregistering while subscribed')
        await asyncio.wrap_future(app.unadvertise(t.adv))
        await asyncio.wrap_future(app.advertise(t.adv))
        peer = t.peer = await t.central.connect(service=UUID % 'ff')
        await peer.discover()
        await peer.subscribe(t.handle(t.notify))
        gatt = [c for s in peer.services for c in s['characteristics'] if c['uuid'] == '2a05'][0]
        await peer.subscribe(gatt['handle'], indicate=True)
        changed = peer.subscriptions[gatt['handle']]
        await settle(app)
        app.signals.clear()
        began = time.monotonic()
        say('UnregisterApplication:', await result(app.unregister()))
        show(await settle(app, 1), began)
        say('Service Changed:', [v.hex() for v in changed.drain()], 'connected:', not peer.disconnected.done())
        say('read of a removed handle:', await answer(peer.read_once(t.handle(t.rw))))
        say('RegisterApplication:', await result(app.register()))
        await asyncio.sleep(1)
        say('Service Changed:', [v.hex() for v in changed.drain()])
        await dump(peer)
        title('The application leaves the bus while subscribed')
        await peer.subscribe(t.handle(t.notify))
        app.close()
        await asyncio.sleep(1)
        say('Service Changed:', [v.hex() for v in changed.drain()], 'connected:', not peer.disconnected.done())


async def devices():
    title('A connected central on the bus')
    async with Stage() as t:
        objects = (await asyncio.wrap_future(t.app.call('/', OBJECT_MANAGER, 'GetManagedObjects')))[0]
        for path, interfaces in objects.items():
            if '/dev_' in path:
                say(path)
                for interface, properties in interfaces.items():
                    say('  ' + interface)
                    for k, v in properties.items():
                        say('    %s: %s' % (k, typed(v)))
        say('signals since the start:')
        show(t.app.signals)
        t.app.signals.clear()
        began = time.monotonic()
        await t.peer.disconnect()
        await asyncio.sleep(1)
        say('signals at the disconnection:')
        show(t.app.signals, began)
        t.app.signals.clear()
        await asyncio.sleep(35)
        say('35 s later:')
        show(t.app.signals, began)


async def two_centrals():
    title('Two centrals')
    async with Stage() as t:
        peer, app = t.peer, t.app
        async with await Central.open(address='F0:00:00:00:00:02', max_mtu=100) as other:
            try:
                p2 = await other.connect(service=UUID % 'ff', seconds=3)
            except RigError:
                say('not heard while the first is connected; again after unregistering the advertisement and registering it')
                await asyncio.wrap_future(app.unadvertise(t.adv))
                await asyncio.wrap_future(app.advertise(t.adv))
                p2 = await other.connect(service=UUID % 'ff', seconds=10)
            await p2.discover()
            for what, coroutine in (
                    ('1 reads', lambda: peer.read_once(t.handle(t.rw))), ('2 reads', lambda: p2.read_once(t.handle(t.rw))),
                    ('1 subscribes', lambda: peer.subscribe(t.handle(t.notify))), ('2 subscribes', lambda: p2.subscribe(t.handle(t.notify)))):
                await t.step(what, coroutine())
            await asyncio.wrap_future(app.notify(t.notify, b'abc'))
            for p in (peer, p2):
                say('both get', (await p.subscriptions[t.handle(t.notify)].next(5)).hex())
            await asyncio.wrap_future(app.notify(t.notify, bytes(300)))
            for p in (peer, p2):
                say('of 300 bytes, MTU %d gets' % p.mtu, len(await p.subscriptions[t.handle(t.notify)].next(5)))
            await t.step('1 unsubscribes', peer.unsubscribe(t.handle(t.notify)))
            await t.step('2 unsubscribes', p2.unsubscribe(t.handle(t.notify)))
            await t.step('1 subscribes', peer.subscribe(t.handle(t.notify)))
            await t.step('2 subscribes', p2.subscribe(t.handle(t.notify)))
            await t.step('1 disconnects', peer.disconnect(), 1)
            await t.step('2 disconnects', p2.disconnect(), 1)


async def advertising():
    title('Advertising data')
    async with await Central.open() as central:
        manufacturer = dbus.Dictionary({dbus.UInt16(0x0059): dbus.ByteArray(b'\1\2', variant_level=1)}, signature='qv')
        data = dbus.Dictionary({'180f': dbus.ByteArray(b'\x64', variant_level=1)}, signature='sv')
        strings = lambda *f: dbus.Array(f, signature='s')  # noqa: E731
        yes = dbus.Boolean(True)
        for what, properties in (
                ('Type only', {}),
                ('LocalName', {'LocalName': 'Pulse'}),
                ('LocalName, Discoverable', {'LocalName': 'Pulse', 'Discoverable': yes}),
                ('LocalName, Discoverable false', {'LocalName': 'Pulse', 'Discoverable': dbus.Boolean(False)}),
                ('LocalName, 180d 180f, Discoverable', {'LocalName': 'Pulse', 'Discoverable': yes, 'ServiceUUIDs': strings('180d', '180f')}),
                ('the same as 128-bit text', {'LocalName': 'Pulse', 'Discoverable': yes, 'ServiceUUIDs': strings('0000180d-0000-1000-8000-00805f9b34fb')}),
                ('180D in capitals', {'LocalName': 'Pulse', 'ServiceUUIDs': strings('180D')}),
                ('128 bit', {'LocalName': 'Pulse', 'Discoverable': yes, 'ServiceUUIDs': strings(UUID % '01')}),
                ('16 and 128 bit', {'LocalName': 'Pulse', 'Discoverable': yes, 'ServiceUUIDs': strings('180d', UUID % '01')}),
                ('manufacturer data', {'LocalName': 'Pulse', 'Discoverable': yes, 'ManufacturerData': manufacturer}),
                ('all small', {'LocalName': 'Pulse', 'Discoverable': yes, 'ServiceUUIDs': strings('180d', '180f'), 'ManufacturerData': manufacturer,
                               'ServiceData': data, 'Appearance': dbus.UInt16(832), 'Includes': strings('tx-power')}),
                ('SolicitUUIDs', {'SolicitUUIDs': strings('180d')}),
                ('Data', {'Data': dbus.Dictionary({dbus.Byte(0x26): dbus.ByteArray(b'\1\1', variant_level=1)}, signature='yv')}),
                ('Includes local-name appearance tx-power', {'Includes': strings('local-name', 'appearance', 'tx-power')}),
                ('name of 29', {'LocalName': 'n' * 29}),
                ('name of 30', {'LocalName': 'n' * 30}),
                ('name of 40', {'LocalName': 'n' * 40}),
                ('29 bytes of advertising data and a name', {'LocalName': 'Pulse', 'ServiceUUIDs': strings(*['18%02x' % i for i in range(13)])}),
                ('exactly 31', {'LocalName': 'Pulse', 'ServiceUUIDs': strings(*['18%02x' % i for i in range(9)]),
                                'ManufacturerData': dbus.Dictionary({dbus.UInt16(1): dbus.ByteArray(bytes(7), variant_level=1)}, signature='qv')}),
                ('exactly 31 and Discoverable', {'Discoverable': yes, 'ServiceUUIDs': strings(*['18%02x' % i for i in range(9)]),
                                'ManufacturerData': dbus.Dictionary({dbus.UInt16(1): dbus.ByteArray(bytes(7), variant_level=1)}, signature='qv')}),
                ('one more than 31', {'ServiceUUIDs': strings(*['18%02x' % i for i in range(9)]),
                                'ManufacturerData': dbus.Dictionary({dbus.UInt16(1): dbus.ByteArray(bytes(8), variant_level=1)}, signature='qv')}),
                ('broadcast', {'Type': 'broadcast', 'LocalName': 'Pulse', 'ServiceUUIDs': strings('180d')})):
            app = Application('/a')
            path = app.advertisement(**{'Type': 'peripheral', **properties})
            reply = await result(app.advertise(path))
            say('- %s: %s' % (what, reply))
            if reply == 'ok':
                for a in await central.scan(1.0, lambda a: a.reports >= 4):
                    say('    adv %s\n    rsp %s\n    legacy %s connectable %s scannable %s address %s' % (
                        a.adv.hex(), a.rsp.hex(), a.legacy, a.connectable, a.scannable, a.address))
                await result(app.unadvertise(path))
            app.close()
        say('after the last:', [a.json for a in await central.scan(0.5)])
        title('Live update')
        app = Application('/a')
        path = app.advertisement(Type='peripheral', LocalName='Pulse', ServiceUUIDs=strings('180d'))
        say(await result(app.advertise(path)))
        app.take()
        for what, properties in (('LocalName', {'LocalName': 'Other'}), ('ServiceUUIDs', {'ServiceUUIDs': strings('180f')})):
            await asyncio.wrap_future(app.changed(path, 'org.bluez.LEAdvertisement1', properties))
            await asyncio.sleep(0.3)
            say('- PropertiesChanged', what)
            show(app.take())
            for a in await central.scan(0.5):
                say('    adv %s rsp %s' % (a.adv.hex(), a.rsp.hex()))
        app.close()


async def life():
    """The adapter and the daemon go and come back while an application is registered."""
    async with Stage() as t:
        app = t.app
        await t.peer.subscribe(t.handle(t.notify))

        async def see(what, action, seconds=1.5):
            await settle(app)
            app.signals.clear()
            began = time.monotonic()
            try:
                await action
            except RigError as error:
                say('!!', error)
            await asyncio.sleep(seconds)
            title(what)
            say('calls:')
            show(await settle(app), began)
            say('signals:')
            show(app.signals, began)

        async def power(on):
            say('Powered %s:' % on, await result(app.call(HCI0, PROPERTIES, 'Set', 'ssv', 'org.bluez.Adapter1', 'Powered', dbus.Boolean(on))))
        await see('Powered off, subscribed', power(False))
        say('RegisterAdvertisement of another while off:', await result(app.advertise(app.advertisement('adv2', Type='peripheral'))))
        await see('Powered on', power(True))
        say('heard:', [a.json['name'] for a in await t.central.scan(1.0)])
        await see('Unplugged', ctl('unplug'))
        say('UnregisterApplication:', await result(app.unregister()))
        await see('Plugged in', ctl('plug'), 3)
        say('heard:', [a.json['name'] for a in await t.central.scan(1.0)])
        say('RegisterApplication:', await result(app.register()), 'RegisterAdvertisement:', await result(app.advertise(t.adv)))
        await see('bluetoothd ends (SIGTERM)', ctl('stop-bluetoothd'))
        say('RegisterApplication:', await result(app.register()))
        await see('bluetoothd starts', ctl('start-bluetoothd'))
        say('RegisterApplication:', await result(app.register()), 'RegisterAdvertisement:', await result(app.advertise(t.adv)))
        await see('bluetoothd is killed', ctl('kill-bluetoothd'))
        title('Properties of the adapter')
        await ctl('start-bluetoothd')
        adapter = 'org.bluez.Adapter1'
        for what, arguments in (
                ('Get Powered', ('Get', 'ss', adapter, 'Powered')), ('Get unknown', ('Get', 'ss', adapter, 'Wings')),
                ('Get of an unknown interface', ('Get', 'ss', 'org.bluez.Wings1', 'Powered')),
                ('GetAll of an unknown interface', ('GetAll', 's', 'org.bluez.Wings1')),
                ('Set a read-only one', ('Set', 'ssv', adapter, 'Address', 'x')),
                ('Set a wrong type', ('Set', 'ssv', adapter, 'Powered', 'x')),
                ('Set Alias', ('Set', 'ssv', adapter, 'Alias', 'Other'))):
            say('- %s -> %s' % (what, await result(app.call(HCI0, PROPERTIES, *arguments))))
        say('- an unknown method ->', await result(app.call(HCI0, adapter, 'Fly')))
        say('- an unknown path ->', await result(app.call('/org/bluez/x', PROPERTIES, 'GetAll', 's', adapter)))


SECTIONS = {f.__name__: f for f in (tree, registration, refusals, database, options, mtu, errors, subscriptions,
                                    devices, two_centrals, advertising, life)}


async def main():
    for name in sys.argv[1:] or SECTIONS:
        try:
            await asyncio.wait_for(SECTIONS[name](), 150)
        except Exception as error:
            say('!! section %s ended with %s: %s' % (name, type(error).__name__, error))
    return 0


if __name__ == '__main__':
    status = asyncio.run(main())
    sys.stdout.flush()
    os._exit(status)
