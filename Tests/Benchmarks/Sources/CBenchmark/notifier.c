/* The plainest sender of notifications: a packet is a call of send; when the socket is full, it waits for room. */

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

static DBusHandlerResult handle_message(DBusConnection *connection, DBusMessage *message, void *data) {
    (void)data;
    if (dbus_message_is_method_call(message, "org.bluez.GattCharacteristic1", "AcquireNotify")) {
        DBusMessage *reply = acquire(message);
        if (!reply) return DBUS_HANDLER_RESULT_NEED_MEMORY;
        dbus_connection_send(connection, reply, NULL);
        dbus_message_unref(reply);
    } else if (dbus_message_is_method_call(message, "org.bluez.GattCharacteristic1", "WriteValue")) {
        DBusMessage *reply = dbus_message_new_method_return(message);
        dbus_connection_send(connection, reply, NULL);
        dbus_connection_flush(connection);
        dbus_message_unref(reply);
        send_packets(requested_count(message));
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
