/* Takes notifications from a socket, as BlueZ 5.76 and later, or from the bus, as earlier versions. */

#define _GNU_SOURCE
#include "daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum { longest_wait = 30 };

/* The reply of a call without arguments, or with options; NULL after an error. */
static DBusMessage *call(benchmark_daemon *daemon, DBusMessage *message) {
    DBusMessage *reply = dbus_connection_send_with_reply_and_block(daemon->connection, message, longest_wait * 1000, NULL);
    dbus_message_unref(message);
    return reply;
}

int benchmark_daemon_subscribe_socket(benchmark_daemon *daemon, const char *destination, const char *path) {
    struct timeval limit = {.tv_sec = longest_wait};
    DBusMessageIter arguments;
    int socket = -1;
    DBusMessage *message =
        dbus_message_new_method_call(destination, path, "org.bluez.GattCharacteristic1", "AcquireNotify");
    dbus_message_iter_init_append(message, &arguments);
    benchmark_append_options(&arguments);
    DBusMessage *reply = call(daemon, message);
    if (!reply) return -1;
    dbus_message_get_args(reply, NULL, DBUS_TYPE_UNIX_FD, &socket, DBUS_TYPE_INVALID);
    dbus_message_unref(reply);
    if (socket < 0) return -1;
    fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) & ~O_NONBLOCK);
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    return socket;
}

/* The size of the value in a PropertiesChanged signal, or -1. */
static int changed_size(DBusMessage *signal) {
    DBusMessageIter arguments, properties, property, variant, array;
    const unsigned char *bytes;
    const char *name;
    int count = -1;
    if (!dbus_message_has_signature(signal, "sa{sv}as") || !dbus_message_iter_init(signal, &arguments)) return -1;
    dbus_message_iter_next(&arguments);
    dbus_message_iter_recurse(&arguments, &properties);
    if (dbus_message_iter_get_arg_type(&properties) != DBUS_TYPE_DICT_ENTRY) return -1;
    dbus_message_iter_recurse(&properties, &property);
    dbus_message_iter_get_basic(&property, &name);
    dbus_message_iter_next(&property);
    if (strcmp(name, "Value") != 0) return -1;
    dbus_message_iter_recurse(&property, &variant);
    dbus_message_iter_recurse(&variant, &array);
    dbus_message_iter_get_fixed_array(&array, &bytes, &count);
    return count;
}

static DBusHandlerResult take_signal(DBusConnection *connection, DBusMessage *message, void *data) {
    benchmark_daemon *daemon = data;
    int size;
    (void)connection;
    if (!dbus_message_is_signal(message, DBUS_INTERFACE_PROPERTIES, "PropertiesChanged")) {
        return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
    }
    size = changed_size(message);
    if (size < 0) return DBUS_HANDLER_RESULT_HANDLED;
    if ((size_t)size != daemon->notified_size) daemon->notified_wrongly++;
    daemon->notified++;
    return DBUS_HANDLER_RESULT_HANDLED;
}

int benchmark_daemon_subscribe_bus(benchmark_daemon *daemon, const char *destination, const char *path) {
    char rule[256];
    snprintf(rule, sizeof rule, "type='signal',sender='%s',interface='%s'", destination, DBUS_INTERFACE_PROPERTIES);
    dbus_bus_add_match(daemon->connection, rule, NULL);
    if (!daemon->takes_signals) dbus_connection_add_filter(daemon->connection, take_signal, daemon, NULL);
    daemon->takes_signals = true;
    DBusMessage *reply =
        call(daemon, dbus_message_new_method_call(destination, path, "org.bluez.GattCharacteristic1", "StartNotify"));
    if (!reply) return 1;
    dbus_message_unref(reply);
    return 0;
}

static int request_notifications(
    benchmark_daemon *daemon, const char *destination, const char *path, uint32_t count) {
    const unsigned char *bytes = (const unsigned char *)&count;
    DBusMessageIter arguments, array;
    DBusMessage *message =
        dbus_message_new_method_call(destination, path, "org.bluez.GattCharacteristic1", "WriteValue");
    dbus_message_iter_init_append(message, &arguments);
    dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, "y", &array);
    dbus_message_iter_append_fixed_array(&array, DBUS_TYPE_BYTE, &bytes, sizeof count);
    dbus_message_iter_close_container(&arguments, &array);
    benchmark_append_options(&arguments);
    DBusMessage *reply = call(daemon, message);
    if (!reply) return 1;
    dbus_message_unref(reply);
    return 0;
}

/* Never asleep: to wake it would be at the cost of whoever sends, and of the slower one more often. */
int benchmark_daemon_take_from_socket(
    benchmark_daemon *daemon, const char *destination, const char *path, int socket, size_t size, uint32_t count) {
    unsigned char packet[512];
    int64_t end = benchmark_latest_end();
    if (request_notifications(daemon, destination, path, count) != 0) return 1;
    while (count > 0) {
        ssize_t received = recv(socket, packet, sizeof packet, MSG_DONTWAIT);
        if (received < 0 && errno == EAGAIN) {
            /* As bluetoothd does: the bus comes when there is nothing else. */
            if (!dbus_connection_read_write_dispatch(daemon->connection, 0) || benchmark_is_over(end)) return 1;
            continue;
        }
        if (received != (ssize_t)size) return 1;
        count--;
    }
    return 0;
}

int benchmark_daemon_take_from_bus(
    benchmark_daemon *daemon, const char *destination, const char *path, size_t size, uint32_t count) {
    int64_t end = benchmark_latest_end();
    daemon->notified = daemon->notified_wrongly = 0;
    daemon->notified_size = size;
    if (request_notifications(daemon, destination, path, count) != 0) return 1;
    while (daemon->notified < count) {
        if (!dbus_connection_read_write_dispatch(daemon->connection, 1000) || benchmark_is_over(end)) return 1;
    }
    return daemon->notified_wrongly != 0;
}
