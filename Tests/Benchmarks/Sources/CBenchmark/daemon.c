/* What bluetoothd is to a peripheral that registers. */

#include "daemon.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static void open_interface(DBusMessageIter *interfaces, DBusMessageIter *entry, DBusMessageIter *properties, const char *name) {
    dbus_message_iter_open_container(interfaces, DBUS_TYPE_DICT_ENTRY, NULL, entry);
    dbus_message_iter_append_basic(entry, DBUS_TYPE_STRING, &name);
    dbus_message_iter_open_container(entry, DBUS_TYPE_ARRAY, "{sv}", properties);
}

static void close_interface(DBusMessageIter *interfaces, DBusMessageIter *entry, DBusMessageIter *properties) {
    dbus_message_iter_close_container(entry, properties);
    dbus_message_iter_close_container(interfaces, entry);
}

/* One adapter, powered on. */
static DBusMessage *describe_adapter(DBusMessage *call) {
    const char *path = "/org/bluez/hci0", *powered = "Powered";
    dbus_bool_t yes = TRUE;
    DBusMessageIter arguments, objects, object, interfaces, interface, properties, property, variant;
    DBusMessage *reply = dbus_message_new_method_return(call);
    dbus_message_iter_init_append(reply, &arguments);
    dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, "{oa{sa{sv}}}", &objects);
    dbus_message_iter_open_container(&objects, DBUS_TYPE_DICT_ENTRY, NULL, &object);
    dbus_message_iter_append_basic(&object, DBUS_TYPE_OBJECT_PATH, &path);
    dbus_message_iter_open_container(&object, DBUS_TYPE_ARRAY, "{sa{sv}}", &interfaces);
    open_interface(&interfaces, &interface, &properties, "org.bluez.Adapter1");
    dbus_message_iter_open_container(&properties, DBUS_TYPE_DICT_ENTRY, NULL, &property);
    dbus_message_iter_append_basic(&property, DBUS_TYPE_STRING, &powered);
    dbus_message_iter_open_container(&property, DBUS_TYPE_VARIANT, "b", &variant);
    dbus_message_iter_append_basic(&variant, DBUS_TYPE_BOOLEAN, &yes);
    dbus_message_iter_close_container(&property, &variant);
    dbus_message_iter_close_container(&properties, &property);
    close_interface(&interfaces, &interface, &properties);
    open_interface(&interfaces, &interface, &properties, "org.bluez.GattManager1");
    close_interface(&interfaces, &interface, &properties);
    open_interface(&interfaces, &interface, &properties, "org.bluez.LEAdvertisingManager1");
    close_interface(&interfaces, &interface, &properties);
    dbus_message_iter_close_container(&object, &interfaces);
    dbus_message_iter_close_container(&objects, &object);
    dbus_message_iter_close_container(&arguments, &objects);
    return reply;
}

/* Keeps the paths of the characteristics, in the order of the reply. */
static void take_characteristics(benchmark_daemon *daemon, DBusMessage *reply) {
    DBusMessageIter arguments, objects;
    dbus_message_iter_init(reply, &arguments);
    dbus_message_iter_recurse(&arguments, &objects);
    for (; dbus_message_iter_get_arg_type(&objects) == DBUS_TYPE_DICT_ENTRY; dbus_message_iter_next(&objects)) {
        DBusMessageIter object, interfaces;
        const char *path;
        dbus_message_iter_recurse(&objects, &object);
        dbus_message_iter_get_basic(&object, &path);
        dbus_message_iter_next(&object);
        dbus_message_iter_recurse(&object, &interfaces);
        for (; dbus_message_iter_get_arg_type(&interfaces) == DBUS_TYPE_DICT_ENTRY;
             dbus_message_iter_next(&interfaces)) {
            DBusMessageIter interface;
            const char *name;
            dbus_message_iter_recurse(&interfaces, &interface);
            dbus_message_iter_get_basic(&interface, &name);
            if (strcmp(name, "org.bluez.GattCharacteristic1") == 0 &&
                daemon->characteristic_count < max_characteristics) {
                daemon->characteristics[daemon->characteristic_count++] = strdup(path);
            }
        }
    }
}

static void answer(benchmark_daemon *daemon, DBusMessage *reply) {
    dbus_connection_send(daemon->connection, reply, NULL);
    dbus_message_unref(reply);
}

static dbus_int32_t registration_slot = -1;

static void complete_registration(DBusPendingCall *pending, void *data) {
    benchmark_daemon *daemon = data;
    DBusMessage *reply = dbus_pending_call_steal_reply(pending);
    DBusMessage *registration = dbus_pending_call_get_data(pending, registration_slot);
    if (dbus_message_has_signature(reply, "a{oa{sa{sv}}}")) take_characteristics(daemon, reply);
    dbus_message_unref(reply);
    answer(daemon, dbus_message_new_method_return(registration));
    daemon->is_registered = true;
}

/* Asks the application for its objects, as bluetoothd does, before it answers. */
static void register_application(benchmark_daemon *daemon, DBusMessage *call) {
    const char *root, *sender = dbus_message_get_sender(call);
    DBusPendingCall *pending;
    if (!dbus_message_get_args(call, NULL, DBUS_TYPE_OBJECT_PATH, &root, DBUS_TYPE_INVALID)) return;
    daemon->peripheral = strdup(sender);
    DBusMessage *question =
        dbus_message_new_method_call(sender, root, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects");
    dbus_connection_send_with_reply(daemon->connection, question, &pending, -1);
    dbus_pending_call_allocate_data_slot(&registration_slot);
    dbus_pending_call_set_data(
        pending, registration_slot, dbus_message_ref(call), (DBusFreeFunction)dbus_message_unref);
    dbus_pending_call_set_notify(pending, complete_registration, daemon, NULL);
    dbus_pending_call_unref(pending);
    dbus_message_unref(question);
}

static DBusHandlerResult handle_call(DBusConnection *connection, DBusMessage *message, void *data) {
    benchmark_daemon *daemon = data;
    (void)connection;
    if (dbus_message_get_type(message) != DBUS_MESSAGE_TYPE_METHOD_CALL) return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
    const char *member = dbus_message_get_member(message);
    if (strcmp(member, "GetManagedObjects") == 0) {
        answer(daemon, describe_adapter(message));
    } else if (strcmp(member, "RegisterApplication") == 0) {
        register_application(daemon, message);
    } else {
        if (strcmp(member, "RegisterAdvertisement") == 0) daemon->is_advertised = true;
        if (!dbus_message_get_no_reply(message)) answer(daemon, dbus_message_new_method_return(message));
    }
    return DBUS_HANDLER_RESULT_HANDLED;
}

benchmark_daemon *benchmark_daemon_open(const char *address) {
    benchmark_daemon *daemon = calloc(1, sizeof *daemon);
    daemon->connection = dbus_connection_open_private(address, NULL);
    if (!daemon->connection || !dbus_bus_register(daemon->connection, NULL)) return NULL;
    dbus_connection_set_exit_on_disconnect(daemon->connection, FALSE);
    dbus_connection_add_filter(daemon->connection, handle_call, daemon, NULL);
    dbus_bus_request_name(daemon->connection, "org.bluez", 0, NULL);
    return daemon;
}

void benchmark_daemon_close(benchmark_daemon *daemon) {
    benchmark_daemon_forget_peripheral(daemon);
    dbus_connection_close(daemon->connection);
    dbus_connection_unref(daemon->connection);
    free(daemon);
}

void benchmark_daemon_forget_peripheral(benchmark_daemon *daemon) {
    for (size_t index = 0; index < daemon->characteristic_count; index++) free(daemon->characteristics[index]);
    daemon->characteristic_count = 0;
    free(daemon->peripheral);
    daemon->peripheral = NULL;
    daemon->is_registered = daemon->is_advertised = false;
}

static int64_t seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec;
}

int64_t benchmark_latest_end(void) { return seconds() + 30; }

bool benchmark_is_over(int64_t end) { return seconds() > end; }

int benchmark_daemon_await_peripheral(benchmark_daemon *daemon) {
    int64_t end = benchmark_latest_end();
    while (!daemon->is_registered || !daemon->is_advertised) {
        if (!dbus_connection_read_write_dispatch(daemon->connection, 1000) || benchmark_is_over(end)) return 1;
    }
    return 0;
}

const char *benchmark_daemon_peripheral(const benchmark_daemon *daemon) { return daemon->peripheral; }

const char *benchmark_daemon_characteristic(const benchmark_daemon *daemon, size_t index) {
    return index < daemon->characteristic_count ? daemon->characteristics[index] : NULL;
}

int benchmark_daemon_await_owner(benchmark_daemon *daemon, const char *name) {
    struct timespec pause = {.tv_nsec = 5000000};
    int64_t end = benchmark_latest_end();
    while (!dbus_bus_name_has_owner(daemon->connection, name, NULL)) {
        if (benchmark_is_over(end)) return 1;
        nanosleep(&pause, NULL);
    }
    return 0;
}
