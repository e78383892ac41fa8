"""A GATT application on D-Bus of which the test decides every answer, and sees every message.

It has no object model: a filter takes each method call as it comes, records it (member, path,
flags, arguments with their D-Bus types) and answers what was set for it. So it can do what a
well-behaved application cannot: answer wrongly, late, or not at all.

The bus is served by a thread of its own, so that a central can run in asyncio beside it.
"""

import concurrent.futures
import os
import threading
import time

import dbus
import dbus.lowlevel
import dbus.mainloop.glib
from dbus.lowlevel import ErrorMessage, MethodCallMessage, MethodReturnMessage, SignalMessage
from gi.repository import GLib

BLUEZ = 'org.bluez'
OBJECT_MANAGER = 'org.freedesktop.DBus.ObjectManager'
PROPERTIES = 'org.freedesktop.DBus.Properties'
SERVICE = 'org.bluez.GattService1'
CHARACTERISTIC = 'org.bluez.GattCharacteristic1'
DESCRIPTOR = 'org.bluez.GattDescriptor1'
ADVERTISEMENT = 'org.bluez.LEAdvertisement1'
HCI0 = '/org/bluez/hci0'


def typed(value):
    """A D-Bus value as text, with its types: {'mtu': q 517}."""
    def inner(v):
        if isinstance(v, dbus.ByteArray):
            return 'ay ' + bytes(v).hex()
        if isinstance(v, dbus.Array):
            if v.signature == 'y':
                return 'ay ' + bytes(v).hex()
            return '[' + ', '.join(inner(x) for x in v) + ']'
        if isinstance(v, dbus.Dictionary):
            return '{' + ', '.join('%s: %s' % (inner(k) if not isinstance(k, str) else repr(str(k)), inner(x))
                                   for k, x in v.items()) + '}'
        for kind, letter in ((dbus.Boolean, 'b'), (dbus.Byte, 'y'), (dbus.Int16, 'n'), (dbus.UInt16, 'q'),
                             (dbus.Int32, 'i'), (dbus.UInt32, 'u'), (dbus.Int64, 'x'), (dbus.UInt64, 't')):
            if isinstance(v, kind):
                return '%s %s' % (letter, bool(v) if letter == 'b' else int(v))
        if isinstance(v, dbus.ObjectPath):
            return 'o ' + str(v)
        if isinstance(v, dbus.types.UnixFd):
            return 'h'
        return 's ' + repr(str(v))
    return inner(value)


class Call:
    """One message that came in."""

    def __init__(self, message):
        self.at = time.monotonic()
        self.path = message.get_path()
        self.interface = message.get_interface()
        self.member = message.get_member()
        self.signature = message.get_signature()
        self.no_reply = message.get_no_reply()
        self.auto_start = message.get_auto_start()
        self.arguments = message.get_args_list()
        self.is_signal = message.get_type() == 4

    def __str__(self):
        return '%s.%s %s(%s)%s%s' % (
            self.interface, self.member, self.path, ', '.join(typed(a) for a in self.arguments),
            ' NO_REPLY_EXPECTED' if self.no_reply else '', '' if self.auto_start or self.is_signal else ' NO_AUTO_START')


class Refused(Exception):
    """An error reply: its name and its text."""

    def __init__(self, name, text):
        super().__init__('%s "%s"' % (name, text))
        self.name, self.text = name, text


class Application:
    """objects: path -> {interface: {property: value}}, the answer to GetManagedObjects at `root`.

    answers: (path or None for any, member) -> function of the Call, giving (signature, values...)
    for a reply, a Refused for an error, None for no answer at all. Without one, ReadValue gives
    values[path] from the offset on, WriteValue stores there, everything else is answered empty.
    """

    def __init__(self, root='/app'):
        self.root, self.objects, self.answers, self.values = root, {}, {}, {}
        self.calls, self.signals = [], []
        dbus.mainloop.glib.threads_init()
        self.loop = GLib.MainLoop()
        self.bus = dbus.SystemBus(private=True, mainloop=dbus.mainloop.glib.DBusGMainLoop())
        self.bus.set_exit_on_disconnect(False)
        self.bus.add_message_filter(self._filter)
        self.bus.add_match_string("type='signal',sender='org.bluez'")
        self.bus.add_match_string("type='signal',member='NameOwnerChanged',arg0='org.bluez'")
        self.thread = threading.Thread(target=self.loop.run, daemon=True)
        self.thread.start()

    # ------------------------------------------------------------ declaration
    def service(self, ident, uuid, **properties):
        path = '%s/%s' % (self.root, ident)
        self.objects[path] = {SERVICE: {'UUID': uuid, 'Primary': dbus.Boolean(True), **properties}}
        return path

    def characteristic(self, service, ident, uuid, flags, value=None, **properties):
        path = '%s/%s' % (service, ident)
        self.objects[path] = {CHARACTERISTIC: {
            'UUID': uuid, 'Service': dbus.ObjectPath(service), 'Flags': dbus.Array(flags, signature='s'), **properties}}
        if value is not None:
            self.values[path] = value
        return path

    def descriptor(self, characteristic, ident, uuid, flags, value=b''):
        path = '%s/%s' % (characteristic, ident)
        self.objects[path] = {DESCRIPTOR: {
            'UUID': uuid, 'Characteristic': dbus.ObjectPath(characteristic), 'Flags': dbus.Array(flags, signature='s')}}
        self.values[path] = value
        return path

    def advertisement(self, ident='adv', **properties):
        path = '%s/%s' % (self.root, ident)
        self.answers[path, 'GetAll'] = lambda call: ('a{sv}', dbus.Dictionary(
            {k: v for k, v in properties.items()}, signature='sv'))
        return path

    # ------------------------------------------------------------ serving (the bus's thread)
    def _filter(self, _, message):
        kind = message.get_type()
        if kind == 4:
            if message.get_member() != 'NameAcquired':
                self.signals.append(Call(message))
            return dbus.lowlevel.HANDLER_RESULT_NOT_YET_HANDLED
        if kind != 1:
            return dbus.lowlevel.HANDLER_RESULT_NOT_YET_HANDLED
        call = Call(message)
        self.calls.append(call)
        answer = self.answers.get((call.path, call.member), self.answers.get((None, call.member), self._usual))
        result = answer(call)
        if result is None or call.no_reply:
            return dbus.lowlevel.HANDLER_RESULT_HANDLED
        if isinstance(result, Refused):
            reply = ErrorMessage(message, result.name, result.text)
        else:
            reply = MethodReturnMessage(message)
            if result[0]:
                reply.append(*result[1:], signature=result[0])
        self.bus.send_message(reply)
        return dbus.lowlevel.HANDLER_RESULT_HANDLED

    def _usual(self, call):
        if call.member == 'GetManagedObjects':
            if call.path != self.root:
                return Refused('org.freedesktop.DBus.Error.UnknownMethod', 'no object manager here')
            return 'a{oa{sa{sv}}}', {dbus.ObjectPath(p): i for p, i in self.objects.items()}
        if call.member == 'GetAll':
            return 'a{sv}', self.objects.get(call.path, {}).get(call.arguments[0], {})
        if call.member == 'ReadValue':
            offset = int(call.arguments[0].get('offset', 0))
            value = self.values.get(call.path, b'')
            if offset > len(value):
                return Refused('org.bluez.Error.InvalidOffset', '')
            return 'ay', dbus.ByteArray(value[offset:])
        if call.member == 'WriteValue':
            self.values[call.path] = bytes(call.arguments[0])
        return ('',)

    # ------------------------------------------------------------ acting (any thread)
    def _on_bus(self, function):
        future = concurrent.futures.Future()

        def run():
            try:
                function(future)
            except Exception as error:
                future.set_exception(error)
            return False
        GLib.idle_add(run)
        return future

    def call(self, path, interface, member, signature='', *arguments, timeout=20.0):
        """A future of the reply's values; Refused when it is an error."""
        def send(future):
            message = MethodCallMessage(BLUEZ, path, interface, member)
            if signature:
                message.append(*arguments, signature=signature)

            def reply(answer):
                if answer.get_type() == 3:
                    text = answer.get_args_list()
                    future.set_exception(Refused(answer.get_error_name(), str(text[0]) if text else ''))
                else:
                    future.set_result(answer.get_args_list())
            self.bus.send_message_with_reply(message, reply, timeout)
        return self._on_bus(send)

    def register(self, root=None, adapter=HCI0):
        return self.call(adapter, 'org.bluez.GattManager1', 'RegisterApplication', 'oa{sv}',
                         dbus.ObjectPath(root or self.root), {})

    def unregister(self, root=None, adapter=HCI0):
        return self.call(adapter, 'org.bluez.GattManager1', 'UnregisterApplication', 'o',
                         dbus.ObjectPath(root or self.root))

    def advertise(self, path, adapter=HCI0):
        return self.call(adapter, 'org.bluez.LEAdvertisingManager1', 'RegisterAdvertisement', 'oa{sv}',
                         dbus.ObjectPath(path), {})

    def unadvertise(self, path, adapter=HCI0):
        return self.call(adapter, 'org.bluez.LEAdvertisingManager1', 'UnregisterAdvertisement', 'o',
                         dbus.ObjectPath(path))

    def changed(self, path, interface, properties, invalidated=()):
        """Emits PropertiesChanged."""
        def send(future):
            message = SignalMessage(path, PROPERTIES, 'PropertiesChanged')
            message.append(interface, properties, dbus.Array(invalidated, signature='s'), signature='sa{sv}as')
            self.bus.send_message(message)
            future.set_result(None)
        return self._on_bus(send)

    def notify(self, path, value):
        return self.changed(path, CHARACTERISTIC, {'Value': dbus.ByteArray(value)})

    def take(self):
        """The calls since the last take()."""
        calls, self.calls = self.calls, []
        return calls

    def close(self):
        """Leaves the bus, as a program that ends does."""
        def leave(future):
            self.bus.close()
            self.loop.quit()
            future.set_result(None)
        self._on_bus(leave).result(5)
        self.thread.join(5)
