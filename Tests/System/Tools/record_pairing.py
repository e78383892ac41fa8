#!/usr/bin/env python3
"""Records how the running bluetoothd pairs, and what it makes of security flags and bonds.

    rig/run-in-vm --radio bumble-legacy --timeout 600 -- python3 Tools/record_pairing.py [SECTION...]

As record_bluez.py, it prints what it saw and checks nothing. The pairing itself is the kernel's: which
question is asked follows from the capability of the agent at the time when the central connected.
"""

import asyncio
import os
import sys
import time

from record_bluez import answer, result, say, settle, show, title, UUID
import dbus
from application import Application, Refused, typed, CHARACTERISTIC, HCI0, PROPERTIES, OBJECT_MANAGER
from bumble.keys import MemoryKeyStore
from bumble.pairing import PairingConfig
from central import Central, Delegate, IO, ctl

AGENT = 'org.bluez.Agent1'
MANAGER = 'org.bluez.AgentManager1'
ADAPTER = 'org.bluez.Adapter1'
DEVICE = 'org.bluez.Device1'
AGENT_CAPABILITIES = ('NoInputNoOutput', 'DisplayOnly', 'KeyboardOnly', 'DisplayYesNo', 'KeyboardDisplay')
ADDRESS = 'F0:00:00:00:00:01'


def device(address=ADDRESS):
    return HCI0 + '/dev_' + address.replace(':', '_')


class User(Delegate):
    """The person before the central, who can decline."""

    accepts = True

    async def compare_numbers(self, number, digits):
        self.asked.append('compare %06d' % number)
        return self.accepts

    async def confirm(self, auto=False):
        self.asked.append('confirm(auto=%s)' % auto)
        return self.accepts


class Stage:
    """A small advertised application, an agent's object, and a central."""

    def __init__(self):
        self.app = app = Application('/rec')
        self.agent = '/rec/agent'
        self.s = app.service('s0', UUID % 'ff')
        self.build()
        self.adv = app.advertisement(Type='peripheral', LocalName='rec',
                                     ServiceUUIDs=dbus.Array([UUID % 'ff'], signature='s'), Discoverable=dbus.Boolean(True))
        self.shown = None
        app.answers[self.agent, 'DisplayPasskey'] = self._display
        app.answers[self.agent, 'RequestPasskey'] = self._request
        self.user = None

    def build(self):
        self.rw = self.app.characteristic(self.s, 'rw', UUID % '01', ['read', 'write'], b'value')
        self.notify = self.app.characteristic(self.s, 'notify', UUID % '05', ['read', 'notify'], b'n')

    def _display(self, call):
        self.shown = int(call.arguments[1])
        return ('',)

    def _request(self, call):
        # The central has shown it by now, or never will.
        for _ in range(40):
            if self.user and self.user.shown is not None:
                break
            time.sleep(0.05)
        return 'u', dbus.UInt32(self.user.shown if self.user and self.user.shown is not None else 0)

    async def __aenter__(self):
        say('RegisterApplication:', await result(self.app.register()))
        say('RegisterAdvertisement:', await result(self.app.advertise(self.adv)))
        await self.pairable(True)
        await self.remove()
        self.central = await Central.open(address=ADDRESS)
        return self

    async def __aexit__(self, *_):
        await self.central.close()
        if self.app.thread.is_alive():
            self.app.close()

    # ------------------------------------------------------------ bluetoothd
    async def pairable(self, on):
        return await result(self.app.call(HCI0, PROPERTIES, 'Set', 'ssv', ADAPTER, 'Pairable', dbus.Boolean(on)))

    async def register_agent(self, capability, default=False, path=None, app=None):
        app, path = app or self.app, path or self.agent
        got = await result(app.call('/org/bluez', MANAGER, 'RegisterAgent', 'os', dbus.ObjectPath(path), capability))
        if default:
            got += ', default: ' + await result(app.call('/org/bluez', MANAGER, 'RequestDefaultAgent', 'o', dbus.ObjectPath(path)))
        return got

    async def unregister_agent(self, path=None, app=None):
        return await result((app or self.app).call('/org/bluez', MANAGER, 'UnregisterAgent', 'o', dbus.ObjectPath(path or self.agent)))

    async def remove(self, address=ADDRESS):
        return await result(self.app.call(HCI0, ADAPTER, 'RemoveDevice', 'o', dbus.ObjectPath(device(address))))

    async def properties(self, address=ADDRESS):
        try:
            values = (await asyncio.wrap_future(self.app.call(device(address), PROPERTIES, 'GetAll', 's', DEVICE)))[0]
        except Refused as error:
            return str(error)
        wanted = ('Address', 'AddressType', 'Paired', 'Bonded', 'Connected', 'Trusted', 'LegacyPairing', 'ServicesResolved')
        return ', '.join('%s %s' % (k, typed(values[k])) for k in wanted if k in values)

    # ------------------------------------------------------------ the central
    def person(self, io='none', sc=True, mitm=False, bonding=True, passkey='shown', accepts=True, central=None):
        """Sets who stands before the central; a passkey 'shown' is the one that the agent was told."""
        async def read():
            for _ in range(60):
                if self.shown is not None:
                    return self.shown
                await asyncio.sleep(0.05)
        self.user = user = User(IO[io], read if passkey == 'shown' else passkey)
        user.accepts = accepts
        self.shown = None
        (central or self.central).device.pairing_config_factory = lambda connection: PairingConfig(
            sc=sc, mitm=mitm, bonding=bonding, delegate=user, identity_address_type=PairingConfig.AddressType.RANDOM)

    async def connect(self, central=None, encrypt=True):
        return await (central or self.central).connect(service=UUID % 'ff', encrypt=encrypt)

    async def pair(self, peer, seconds=40):
        """The outcome as the central sees it."""
        try:
            await asyncio.wait_for(peer.connection.pair(), seconds)
            keys = await peer.central.device.keystore.get(str(peer.connection.peer_address))
            key = keys and (keys.ltk or keys.ltk_peripheral or keys.ltk_central)
            return 'paired: encryption %d, authenticated %s, sc %s, stored key %s' % (
                peer.connection.encryption, peer.connection.authenticated, getattr(peer.connection, 'sc', '?'),
                'none' if not key else 'authenticated' if key.authenticated else 'unauthenticated')
        except (TimeoutError, asyncio.TimeoutError):
            return 'no end in %g s' % seconds
        except asyncio.CancelledError:
            return 'cancelled (link gone %s)' % peer.disconnect_reason
        except Exception as error:
            return '%s: %s' % (type(error).__name__, error)

    async def leave(self, peer, forget=True):
        try:
            if not peer.disconnected.done():
                await peer.disconnect()
        except Exception as error:
            say('  !! disconnect:', type(error).__name__, error)
        if forget:
            peer.central.device.keystore = MemoryKeyStore()
            await self.remove()

    def calls(self):
        return [c for c in self.app.take() if c.interface == AGENT]

    def brief(self, calls):
        return ' | '.join('%s(%s)' % (c.member, ', '.join(typed(a) for a in c.arguments)) for c in calls) or '(no call)'

    async def attempt(self, what, settle_=0.15, **person):
        """One pairing from the connection on."""
        self.person(**person)
        self.app.take()
        try:
            peer = await self.connect()
        except Exception as error:
            say('- %s -> no connection: %s' % (what, error))
            return
        got = await self.pair(peer)
        await asyncio.sleep(settle_)
        say('- %s -> %s' % (what, got))
        say('    agent: %s' % self.brief(self.calls()), '; central asked:', self.user.asked,
            '; link', 'up' if not peer.disconnected.done() else 'down 0x%02x' % peer.disconnect_reason)
        say('    device:', await self.properties())
        await self.leave(peer)


# ------------------------------------------------------------------------ sections
async def agents():
    title('Which question the agent is asked')
    async with Stage() as t:
        for capability in ('',) + AGENT_CAPABILITIES:
            say('### agent %r:' % capability, await t.register_agent(capability))
            for sc in (True, False):
                for io in IO:
                    for mitm in (False, True):
                        await t.attempt('agent %s, central %s, %s, %s' % (
                            capability or '""', io, 'SC' if sc else 'legacy', 'mitm' if mitm else 'no mitm'),
                            io=io, sc=sc, mitm=mitm)
            say('UnregisterAgent:', await t.unregister_agent())


async def no_agent():
    title('No agent')
    async with Stage() as t:
        for pairable in (True, False):
            say('Pairable %s:' % pairable, await t.pairable(pairable))
            for sc in (True, False):
                for bonding in (True, False):
                    for io in ('none', 'keyboard-display'):
                        for mitm in (False, True) if io != 'none' else (False,):
                            await t.attempt('Pairable %s, %s, %s, central %s%s' % (
                                pairable, 'SC' if sc else 'legacy', 'bonding' if bonding else 'not bonding', io, ' mitm' if mitm else ''),
                                io=io, sc=sc, bonding=bonding, mitm=mitm)
        title('An agent, but Pairable false')
        for capability in ('NoInputNoOutput', 'DisplayYesNo'):
            await t.pairable(True)
            say('### agent %s:' % capability, await t.register_agent(capability), await t.pairable(False))
            for sc in (True, False):
                for bonding in (True, False):
                    await t.attempt('Pairable false, agent %s, %s, %s' % (capability, 'SC' if sc else 'legacy', 'bonding' if bonding else 'not bonding'),
                                    sc=sc, bonding=bonding)
            await t.unregister_agent()


REJECTED = lambda call: Refused('org.bluez.Error.Rejected', 'no')  # noqa: E731
CANCELED = lambda call: Refused('org.bluez.Error.Canceled', 'no')  # noqa: E731
QUESTIONS = ('RequestAuthorization', 'RequestConfirmation', 'RequestPasskey', 'DisplayPasskey')


async def rejection():
    title('An agent that says no')
    async with Stage() as t:
        usual = dict(t.app.answers)
        for name, no in (('Rejected', REJECTED), ('Canceled', CANCELED), ('another error', lambda call: Refused('com.example.No', 'x'))):
            for q in QUESTIONS:
                t.app.answers[t.agent, q] = no
            for capability in AGENT_CAPABILITIES:
                await t.register_agent(capability)
                for sc in (True, False):
                    for bonding in (True, False) if capability == 'NoInputNoOutput' else (True,):
                        for io, mitm in (('none', False), ('keyboard-display', True)):
                            await t.attempt('%s: agent %s, %s, %s, central %s' % (
                                name, capability, 'SC' if sc else 'legacy', 'bonding' if bonding else 'not bonding', io),
                                io=io, mitm=mitm, sc=sc, bonding=bonding)
                await t.unregister_agent()
                if name != 'Rejected' and capability == 'DisplayOnly':
                    break
        t.app.answers.clear()
        t.app.answers.update(usual)
        title('The central says no')
        for capability, io in (('DisplayYesNo', 'yesno'), ('DisplayOnly', 'keyboard')):
            await t.register_agent(capability)
            for sc in (True, False):
                await t.attempt('the user declines: agent %s, central %s %s' % (capability, io, 'SC' if sc else 'legacy'),
                                io=io, mitm=True, accepts=False, passkey=None, sc=sc, settle_=1)
                if io == 'keyboard':
                    await t.attempt('a wrong passkey: agent %s, %s' % (capability, 'SC' if sc else 'legacy'),
                                    io=io, mitm=True, passkey=999999, sc=sc, settle_=1)
            await t.unregister_agent()
        title('The agent enters a wrong passkey')
        await t.register_agent('KeyboardOnly')
        t.app.answers[t.agent, 'RequestPasskey'] = lambda call: ('u', dbus.UInt32(999999))
        await t.attempt('wrong passkey', io='display', mitm=True)
        t.app.answers[t.agent, 'RequestPasskey'] = lambda call: ('u', dbus.UInt32(1000000))
        await t.attempt('passkey 1000000', io='display', mitm=True)
        t.app.answers[t.agent, 'RequestPasskey'] = lambda call: ('s', 'x')
        await t.attempt('a reply of a wrong type', io='display', mitm=True)
        await t.unregister_agent()


async def cancel():
    title('The question is taken back')
    async with Stage() as t:
        for capability, io, question in (('DisplayYesNo', 'yesno', 'RequestConfirmation'), ('KeyboardOnly', 'display', 'RequestPasskey'),
                                         ('DisplayOnly', 'keyboard', 'DisplayPasskey'), ('DisplayYesNo', 'none', 'RequestAuthorization')):
            for why in ('the central disconnects', 'the link is lost', 'RemoveDevice', 'Device1.CancelPairing', 'Device1.Disconnect', 'UnregisterAgent'):
                say('RegisterAgent', capability, await t.register_agent(capability))
                if question != 'DisplayPasskey':
                    t.app.answers[t.agent, question] = lambda call: None
                t.person(io=io, mitm=io != 'none', passkey=lambda: asyncio.sleep(3600))
                t.app.take()
                peer = await t.connect()
                pairing = asyncio.ensure_future(t.pair(peer, 10))
                for _ in range(100):
                    if any(c.member == question for c in t.app.calls):
                        break
                    await asyncio.sleep(0.05)
                began = time.monotonic()
                if why == 'the central disconnects':
                    await peer.disconnect()
                elif why == 'the link is lost':
                    await ctl('cut')
                elif why == 'RemoveDevice':
                    say('  ', await t.remove())
                elif why == 'UnregisterAgent':
                    say('  ', await t.unregister_agent())
                else:
                    say('  ', await result(t.app.call(device(), DEVICE, why.split('.')[1])))
                say('- %s, %s -> central: %s' % (question, why, await pairing))
                await asyncio.sleep(0.3)
                show([c for c in t.app.take() if c.interface == AGENT], began)
                t.app.answers.pop((t.agent, question), None)
                await t.unregister_agent()
                t.app.answers[t.agent, 'DisplayPasskey'] = t._display
                t.app.answers[t.agent, 'RequestPasskey'] = t._request
                await t.leave(peer)


async def timeout():
    title('An agent that does not answer')
    async with Stage() as t:
        for capability, io, question in (('DisplayYesNo', 'yesno', 'RequestConfirmation'),):
            await t.register_agent(capability)
            t.app.answers[t.agent, question] = lambda call: None
            t.person(io=io, mitm=True)
            peer = await t.connect()
            began = time.monotonic()
            say('central:', await t.pair(peer, 80), 'after %.1f s' % (time.monotonic() - began), 'link', peer.disconnect_reason)
            await asyncio.sleep(35 if time.monotonic() - began < 50 else 3)
            show([c for c in t.app.take() if c.interface == AGENT], began)
            say('link', peer.disconnect_reason, await t.properties())
            await t.unregister_agent()
            await t.leave(peer)


async def several_agents():
    title('Which agent is asked')
    async with Stage() as t:
        other = Application('/other')
        for name, defaults in (('first only', (False, False)), ('first is default', (True, False)), ('second is default', (False, True)),
                               ('first, then second is default', (True, True))):
            say('###', name)
            say('first:', await t.register_agent('DisplayYesNo', defaults[0]))
            say('second:', await t.register_agent('NoInputNoOutput', defaults[1], '/other/agent', other))
            other.take()
            await t.attempt('pairing', io='yesno', mitm=True)
            say('    second agent:', t.brief([c for c in other.take() if c.interface == AGENT]))
            await t.attempt('pairing', io='none', bonding=False)
            say('    second agent:', t.brief([c for c in other.take() if c.interface == AGENT]))
            say('first goes:', await t.unregister_agent())
            await t.attempt('pairing', io='yesno', mitm=True)
            say('    second agent:', t.brief([c for c in other.take() if c.interface == AGENT]))
            say('second goes:', await t.unregister_agent('/other/agent', other))
        say('the same agent twice:', await t.register_agent('DisplayYesNo'), await t.register_agent('DisplayYesNo'))
        say('another path of the same program:', await t.register_agent('DisplayYesNo', path='/rec/agent2'))
        say('unknown capability:', await t.register_agent('Telepathy', path='/other/agent', app=other))
        say('default of an unknown agent:', await result(other.call('/org/bluez', MANAGER, 'RequestDefaultAgent', 'o', dbus.ObjectPath('/x'))))
        say('unregister an unknown:', await t.unregister_agent('/x', other))
        t.app.take()
        say('bluetoothd ends')
        await ctl('stop-bluetoothd')
        await asyncio.sleep(0.5)
        show([c for c in t.app.take() if c.interface == AGENT])
        await ctl('start-bluetoothd')
        say('Release:', t.brief(t.calls()))


SECURITY = ('encrypt', 'encrypt-authenticated', 'secure')
SITUATIONS = (
    ('not encrypted', None),
    ('Just Works, legacy', dict(sc=False)),
    ('Just Works, SC', dict(sc=True)),
    ('passkey, legacy', dict(io='keyboard', mitm=True, sc=False)),
    ('passkey, SC', dict(io='keyboard', mitm=True, sc=True)),
    ('numeric comparison', dict(io='yesno', mitm=True, sc=True)),
)


class Secured(Stage):
    """A characteristic for each security flag."""

    def build(self):
        app, s = self.app, self.s
        self.paths = []
        number = 0x10

        def add(name, flags, descriptor=None):
            nonlocal number
            number += 1
            path = app.characteristic(s, 'c%x' % number, UUID % ('%02x' % number), flags, b'v')
            self.paths.append((name, path, UUID % ('%02x' % number)))
            if descriptor:
                app.descriptor(path, 'd', UUID % 'dd', descriptor, b'd')
        add('plain', ['read', 'write', 'write-without-response', 'notify', 'indicate'])
        for level in SECURITY:
            add(level, [level + '-read', level + '-write', level + '-notify', level + '-indicate', 'write-without-response'])
            add(level + '-notify only', ['read', level + '-notify'])
            add('descriptor ' + level, ['read'], [level + '-read', level + '-write'])
            add('read and %s-read, write' % level, ['read', level + '-read', 'write'])


async def flags():
    title('Security flags')
    async with Secured() as t:
        await t.register_agent('KeyboardDisplay')
        for name, person in SITUATIONS:
            say('### ' + name)
            t.person(**(person or {}))
            peer = await t.connect()
            await peer.discover()
            if person:
                say('  ', await t.pair(peer))
            found = {c['uuid']: c for s in peer.services for c in s['characteristics']}
            t.app.take()
            for what, path, uuid in t.paths:
                c = found[uuid]
                h = c['handle']
                descriptors = {d['uuid']: d['handle'] for d in c['descriptors']}
                seen = []

                async def step(op, coroutine):
                    seen.append('%s: %s' % (op, (await answer(coroutine)).replace('ATT error ', '')))
                if UUID % 'dd' in descriptors:
                    await step('descriptor read', peer.read_once(descriptors[UUID % 'dd']))
                    await step('write', peer.write(descriptors[UUID % 'dd'], b'x'))
                    await step('prepare', peer.prepare(descriptors[UUID % 'dd'], 0, b'x'))
                    await step('cancel', peer.execute(False))
                else:
                    await step('read', peer.read_once(h))
                    if 'notify only' not in what:
                        await step('blob', peer.read_blob(h, 1))
                        await step('write', peer.write(h, b'x'))
                        await step('prepare', peer.prepare(h, 0, b'x'))
                        await step('execute', peer.execute())
                        t.app.take()
                        await peer.write_command(h, b'x')
                        await peer.read_once(found[UUID % '11']['handle'])   # comes after the command
                        seen.append('command: ' + ('called' if any(k.member == 'WriteValue' and k.path == path for k in t.app.take()) else 'dropped'))
                    if '2902' in descriptors:
                        await step('CCC read', peer.read_once(descriptors['2902']))
                        await step('CCC notify', peer.write(descriptors['2902'], b'\1\0'))
                        await step('CCC indicate', peer.write(descriptors['2902'], b'\2\0'))
                        await step('CCC off', peer.write(descriptors['2902'], b'\0\0'))
                say('- %s [%s]: %s' % (what, ' '.join(c['properties']), ', '.join(seen)))
            say('  calls while at it:', sorted({c.member for c in t.app.take()}))
            await t.leave(peer)


async def authorize():
    title('The flag authorize')
    async with Authorized() as t:
        t.person()
        await t.register_agent('NoInputNoOutput')
        for trusted in (None, False, True):
            peer = await t.connect()
            await peer.discover()
            if trusted is not None:
                say('   paired:', await t.pair(peer))
                say('   Trusted %s:' % trusted, await result(t.app.call(device(), PROPERTIES, 'Set', 'ssv', DEVICE, 'Trusted', dbus.Boolean(trusted))))
            say('### Trusted', trusted)
            found = {c['uuid']: c for s in peer.services for c in s['characteristics']}
            h, d = found[UUID % '21']['handle'], next(d['handle'] for d in found[UUID % '21']['descriptors'] if d['uuid'] == UUID % 'dd')
            for name, no in (('granted', None), ('refused (NotAuthorized)', 'org.bluez.Error.NotAuthorized'), ('refused (Failed)', 'org.bluez.Error.Failed')):
                for path in (t.c, t.d):
                    t.app.answers.pop((path, 'WriteValue'), None)
                    if no:
                        t.app.answers[path, 'WriteValue'] = lambda call, no=no: Refused(no, '')
                for what, make in (('read', lambda: peer.read_once(h)), ('write', lambda: peer.write(h, b'x')),
                                   ('prepare', lambda: peer.prepare(h, 0, b'ab')), ('prepare 2', lambda: peer.prepare(h, 2, b'cd')),
                                   ('execute', lambda: peer.execute()),
                                   ('prepare again', lambda: peer.prepare(h, 0, b'ab')), ('cancel', lambda: peer.execute(False)),
                                   ('descriptor read', lambda: peer.read_once(d)), ('descriptor write', lambda: peer.write(d, b'x')),
                                   ('descriptor prepare', lambda: peer.prepare(d, 0, b'x')), ('execute', lambda: peer.execute())):
                    t.app.take()
                    got = await answer(make())
                    await asyncio.sleep(0.1)
                    say('- %s, %s -> %s' % (what, name, got))
                    for c in t.app.take():
                        say('     ', c)
            await t.leave(peer)


class Authorized(Stage):
    def build(self):
        self.c = self.app.characteristic(self.s, 'a', UUID % '21', ['read', 'write', 'reliable-write', 'authorize', 'notify'], b'a')
        self.d = self.app.descriptor(self.c, 'd', UUID % 'dd', ['read', 'write', 'authorize'], b'd')


def signals(application, since):
    for c in application.signals:
        if c.member in ('PropertiesChanged', 'InterfacesAdded', 'InterfacesRemoved', 'Disconnected', 'DeviceRemoved'):
            text = str(c)
            say('  %+7.3f s  %s' % (c.at - since, text if len(text) < 400 else text[:400] + '…'))
    application.signals.clear()


async def bonds():
    title('A bonded central')
    async with Stage() as t:
        app = t.app
        t.person()
        await t.register_agent('NoInputNoOutput')
        peer = await t.connect()
        await peer.discover()
        await settle(app)
        app.signals.clear()
        began = time.monotonic()
        say('pairing:', await t.pair(peer))
        await asyncio.sleep(0.5)
        signals(app, began)
        say(await t.properties())
        n = next(c['handle'] for s in peer.services for c in s['characteristics'] if c['uuid'] == UUID % '05')

        async def step(what, coroutine, wait=0.5):
            app.take()
            app.signals.clear()
            began = time.monotonic()
            got = await answer(coroutine)
            await asyncio.sleep(wait)
            say('- %s -> %s' % (what, got))
            show([c for c in app.take() if c.interface != PROPERTIES], began)
            signals(app, began)
        await step('subscribes', peer.subscribe(n))
        await step('disconnects', peer.disconnect(), 1)
        say(await t.properties())
        await step('a value while it is away', asyncio.wrap_future(app.notify(t.notify, b'away')))

        async def reconnect():
            nonlocal peer
            peer = await t.connect()
        await step('connects again, and encrypts', reconnect(), 1.5)
        peer.services = None
        say('encrypted:', peer.encrypted, 'stray values:', [v.hex() for _, v in peer.stray], 'security requests', peer.security_requests)
        await asyncio.wrap_future(app.notify(t.notify, b'now'))
        await asyncio.sleep(0.5)
        say('without subscribing again it gets:', [v.hex() for _, v in peer.stray])
        await peer.discover()
        ccc = next(d['handle'] for s in peer.services for c in s['characteristics'] if c['handle'] == n for d in c['descriptors'] if d['uuid'] == '2902')
        await step('reads its CCC', peer.read_once(ccc))
        await step('writes the same CCC', peer.write(ccc, b'\1\0'))
        await step('writes CCC 0', peer.write(ccc, b'\0\0'))
        await step('writes CCC 1', peer.write(ccc, b'\1\0'))
        await step('link lost', ctl('cut'), 1.5)
        await step('connects again', reconnect(), 1.5)
        await step('writes CCC 2', peer.write(ccc, b'\2\0'))
        await step('writes CCC 1', peer.write(ccc, b'\1\0'))
        await step('RemoveDevice while connected', asyncio.wrap_future(app.call(HCI0, ADAPTER, 'RemoveDevice', 'o', dbus.ObjectPath(device()))), 3)
        say('link', peer.disconnect_reason, await t.properties())


async def lost_keys():
    title('Keys on one side only')
    async with Stage() as t:
        app = t.app
        await t.register_agent('KeyboardDisplay')

        async def bond():
            t.central.device.keystore = MemoryKeyStore()
            t.person()
            peer = await t.connect()
            say('   bonds:', await t.pair(peer))
            await peer.discover()
            n = next(c['handle'] for s in peer.services for c in s['characteristics'] if c['uuid'] == UUID % '05')
            await t.leave(peer, forget=False)
            return n

        async def connect():
            peer = await t.connect(encrypt=False)
            peer.answer_security_requests = False
            return peer

        async def end(peer, what):
            await asyncio.sleep(0.3)
            say('- %s; encrypted %s, link %s, security requests %d, %s' % (
                what, peer.encrypted, peer.disconnect_reason, peer.security_requests, await t.properties()))
            say('   agent:', t.brief([c for c in app.take() if c.interface == AGENT]))
            await t.leave(peer, forget=False)
        n = await bond()
        app.take()
        peer = await connect()
        got = await answer(peer.read_once(n), 8)
        await end(peer, 'both have keys, the central does not encrypt; read at once: ' + got)
        peer = await connect()
        await asyncio.sleep(1)
        got = await answer(peer.read_once(n), 8)
        await end(peer, 'the same; read after 1 s: ' + got)
        peer = await connect()
        await asyncio.sleep(1)
        got = await answer(peer.encrypt())
        await end(peer, 'the same; encrypts after 1 s: %s, then reads: %s' % (got, await answer(peer.read_once(n), 8)))
        kept = t.central.device.keystore
        for what, person in (('Just Works SC', dict(sc=True)), ('Just Works legacy', dict(sc=False)), ('numeric comparison', dict(io='yesno', mitm=True)),
                             ('passkey', dict(io='keyboard', mitm=True))):
            t.central.device.keystore = MemoryKeyStore()
            t.person(**person)
            app.take()
            peer = await connect()
            got = await answer(peer.read_once(n), 4)
            say('the central has lost its keys; read:', got)
            await end(peer, 'pairs again, %s: %s' % (what, await t.pair(peer)))
            await t.remove()
            n = await bond()
        app.take()
        say('the peripheral has lost its keys:', await t.remove())
        peer = await connect()
        say('encrypts:', await answer(peer.encrypt()))
        await asyncio.sleep(0.5)
        say('read:', await answer(peer.read_once(n), 4))
        await end(peer, 'after it')
        peer = await connect()
        t.person()
        await end(peer, 'pairs anew: ' + await t.pair(peer))
        peer = await t.connect()
        say('RemoveDevice while connected and encrypted:', await t.remove())
        say('a read at once:', await answer(peer.read_once(n), 4))
        say('link ends:', await answer(peer.wait_disconnected(10)), peer.disconnect_reason)
        peer = await connect()
        say('the next connection of the central, with its keys:', await answer(peer.encrypt()))
        await end(peer, 'read: ' + await answer(peer.read_once(n), 4))


async def restart():
    title('A bonded central over a restart of bluetoothd')
    async with Stage() as t:
        app = t.app
        t.person()
        await t.register_agent('NoInputNoOutput')
        peer = await t.connect()
        await peer.discover()
        say('pairing:', await t.pair(peer))
        n = next(c['handle'] for s in peer.services for c in s['characteristics'] if c['uuid'] == UUID % '05')
        changed = next(c['handle'] for s in peer.services for c in s['characteristics'] if c['uuid'] == '2a05')
        await peer.subscribe(n)
        await peer.subscribe(changed, indicate=True)
        await peer.disconnect()
        await ctl('stop-bluetoothd')
        await ctl('start-bluetoothd')
        say(await t.properties())
        say('Pairable after the restart:', await result(app.call(HCI0, PROPERTIES, 'Get', 'ss', ADAPTER, 'Pairable')))
        say(await result(app.register()), await result(app.advertise(t.adv)))
        app.take()
        peer = await t.connect()
        await asyncio.sleep(2)
        say('encrypted', peer.encrypted, 'indicated', [(hex(h), v.hex()) for h, v in peer.stray])
        say('calls', [c.member for c in app.take()])
        await peer.discover()
        n = next(c['handle'] for s in peer.services for c in s['characteristics'] if c['uuid'] == UUID % '05')
        ccc = next(d['handle'] for s in peer.services for c in s['characteristics'] if c['handle'] == n for d in c['descriptors'] if d['uuid'] == '2902')
        say('its CCC:', await answer(peer.read_once(ccc)))
        await peer.disconnect()


SECTIONS = {f.__name__: f for f in (agents, no_agent, rejection, cancel, timeout, several_agents, flags, authorize, bonds, lost_keys, restart)}


async def main():
    for name in sys.argv[1:] or SECTIONS:
        try:
            await asyncio.wait_for(SECTIONS[name](), 500)
        except Exception as error:
            say('!! section %s ended with %s: %s' % (name, type(error).__name__, error))
    return 0


if __name__ == '__main__':
    status = asyncio.run(main())
    sys.stdout.flush()
    os._exit(status)
