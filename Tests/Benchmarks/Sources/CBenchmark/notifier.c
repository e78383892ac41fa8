/* The plainest sender of notifications. By socket, a packet is a call of send; when the socket is full, it waits for
 * room. Over the bus, a value is a PropertiesChanged signal. */

#define _GNU_SOURCE
#include "notifier.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int own_end = -1;

static DBusMessage *acquire(DBusMessage *call) {
    int ends[2];
    dbus_uint16_t mtu = 517;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) return NULL;
    DBusMessage *reply = dbus_message_new_method_return(call);
    dbus_message_append_args(reply, DBUS_TYPE_UNIX_FD, &ends[1], DBUS_TYPE_UINT16, &mtu, DBUS_TYPE_INVALID);
    close(ends[1]);
    own_end = ends[0];
    return reply;
}

static uint32_t requested_count(DBusMessage *call) {
    DBusMessageIter arguments, array;
    const unsigned char *bytes;
    uint32_t count = 0;
    int size = 0;
    dbus_message_iter_init(call, &arguments);
    dbus_message_iter_recurse(&arguments, &array);
    dbus_message_iter_get_fixed_array(&array, &bytes, &size);
    if (size == sizeof count) memcpy(&count, bytes, sizeof count);
    return count;
}

static void send_packets(uint32_t count) {
    unsigned char value[20] = {0};
    while (count > 0) {
        if (send(own_end, value, sizeof value, MSG_NOSIGNAL) >= 0) {
            count--;
        } else if (errno == EAGAIN) {
            struct pollfd entry = {.fd = own_end, .events = POLLOUT};
            poll(&entry, 1, -1);
        } else {
            return;
        }
    }
}

static void send_signals(DBusConnection *connection, uint32_t count) {
    const char *interface = "org.bluez.GattCharacteristic1", *name = "Value";
    const unsigned char zeros[20] = {0}, *bytes = zeros;
    for (; count > 0; count--) {
        DBusMessageIter arguments, properties, property, variant, array, invalidated;
        DBusMessage *signal =
            dbus_message_new_signal("/updates", DBUS_INTERFACE_PROPERTIES, "PropertiesChanged");
        dbus_message_iter_init_append(signal, &arguments);
        dbus_message_iter_append_basic(&arguments, DBUS_TYPE_STRING, &interface);
        dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, "{sv}", &properties);
        dbus_message_iter_open_container(&properties, DBUS_TYPE_DICT_ENTRY, NULL, &property);
        dbus_message_iter_append_basic(&property, DBUS_TYPE_STRING, &name);
        dbus_message_iter_open_container(&property, DBUS_TYPE_VARIANT, "ay", &variant);
        dbus_message_iter_open_container(&variant, DBUS_TYPE_ARRAY, "y", &array);
        dbus_message_iter_append_fixed_array(&array, DBUS_TYPE_BYTE, &bytes, sizeof zeros);
        dbus_message_iter_close_container(&variant, &array);
        dbus_message_iter_close_container(&property, &variant);
        dbus_message_iter_close_container(&properties, &property);
        dbus_message_iter_close_container(&arguments, &properties);
        dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, "s", &invalidated);
        dbus_message_iter_close_container(&arguments, &invalidated);
        dbus_connection_send(connection, signal, NULL);
        dbus_message_unref(signal);
        /* libdbus sends the first one at once and keeps what the socket does not take. */
        if (dbus_connection_has_messages_to_send(connection)) dbus_connection_flush(connection);
    }
}

static DBusHandlerResult handle_message(DBusConnection *connection, DBusMessage *message, void *data) {
    (void)data;
    if (dbus_message_is_method_call(message, "org.bluez.GattCharacteristic1", "AcquireNotify")) {
        DBusMessage *reply = acquire(message);
        if (!reply) return DBUS_HANDLER_RESULT_NEED_MEMORY;
        dbus_connection_send(connection, reply, NULL);
        dbus_message_unref(reply);
    } else if (dbus_message_is_method_call(message, "org.bluez.GattCharacteristic1", "StartNotify")) {
        if (own_end >= 0) close(own_end);
        own_end = -1;
        DBusMessage *reply = dbus_message_new_method_return(message);
        dbus_connection_send(connection, reply, NULL);
        dbus_message_unref(reply);
    } else if (dbus_message_is_method_call(message, "org.bluez.GattCharacteristic1", "WriteValue")) {
        DBusMessage *reply = dbus_message_new_method_return(message);
        dbus_connection_send(connection, reply, NULL);
        dbus_connection_flush(connection);
        dbus_message_unref(reply);
        if (own_end >= 0) {
            send_packets(requested_count(message));
        } else {
            send_signals(connection, requested_count(message));
        }
    } else {
        return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
    }
    return DBUS_HANDLER_RESULT_HANDLED;
}

void benchmark_register_notifier(DBusConnection *connection) {
    static const DBusObjectPathVTable table = {.message_function = handle_message};
    dbus_connection_register_object_path(connection, "/updates", &table, NULL);
    dbus_connection_register_object_path(connection, "/count", &table, NULL);
}
