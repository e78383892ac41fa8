/* The plainest GATT application that libdbus makes: it answers GetManagedObjects, and takes the handles. */

#include "calls.h"
#include "registration.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROOT "/plain"
#define SERVICE ROOT "/service0000"
#define CHARACTERISTIC SERVICE "/char%04d"

struct registration_program {
    DBusConnection *connection;
    int characteristics;
    bool takes_handles;
};

DBusConnection *open_system_bus(void) {
    DBusConnection *connection = dbus_bus_get_private(DBUS_BUS_SYSTEM, NULL);
    if (connection) dbus_connection_set_exit_on_disconnect(connection, FALSE);
    return connection;
}

void close_system_bus(DBusConnection *connection) {
    dbus_connection_close(connection);
    dbus_connection_unref(connection);
}

static void append_property(DBusMessageIter *properties, const char *name, int type, const void *value) {
    DBusMessageIter entry, variant;
    char signature[] = {(char)type, 0};
    dbus_message_iter_open_container(properties, DBUS_TYPE_DICT_ENTRY, NULL, &entry);
    dbus_message_iter_append_basic(&entry, DBUS_TYPE_STRING, &name);
    dbus_message_iter_open_container(&entry, DBUS_TYPE_VARIANT, signature, &variant);
    dbus_message_iter_append_basic(&variant, type, value);
    dbus_message_iter_close_container(&entry, &variant);
    dbus_message_iter_close_container(properties, &entry);
}

static void append_flags(DBusMessageIter *properties) {
    static const char *name = "Flags", *flags[] = {"read", "notify"};
    DBusMessageIter entry, variant, array;
    dbus_message_iter_open_container(properties, DBUS_TYPE_DICT_ENTRY, NULL, &entry);
    dbus_message_iter_append_basic(&entry, DBUS_TYPE_STRING, &name);
    dbus_message_iter_open_container(&entry, DBUS_TYPE_VARIANT, "as", &variant);
    dbus_message_iter_open_container(&variant, DBUS_TYPE_ARRAY, "s", &array);
    for (int i = 0; i < 2; i++) dbus_message_iter_append_basic(&array, DBUS_TYPE_STRING, &flags[i]);
    dbus_message_iter_close_container(&variant, &array);
    dbus_message_iter_close_container(&entry, &variant);
    dbus_message_iter_close_container(properties, &entry);
}

/* Appends the service, or the characteristic with this number. */
static void append_object(DBusMessageIter *objects, int number, bool takes_handles) {
    static const char *service = SERVICE;
    char text[64], uuid_text[64];
    const char *path = text, *uuid = uuid_text;
    const char *interface = number < 0 ? "org.bluez.GattService1" : "org.bluez.GattCharacteristic1";
    DBusMessageIter object, interfaces, entry, properties;
    dbus_bool_t yes = TRUE, no = FALSE;
    dbus_uint16_t handle = 0;
    snprintf(text, sizeof text, number < 0 ? SERVICE : CHARACTERISTIC, number);
    snprintf(uuid_text, sizeof uuid_text, "5c3a%04x-7e3c-4b6e-9d29-b3f1c0a1d002", number + 1);
    dbus_message_iter_open_container(objects, DBUS_TYPE_DICT_ENTRY, NULL, &object);
    dbus_message_iter_append_basic(&object, DBUS_TYPE_OBJECT_PATH, &path);
    dbus_message_iter_open_container(&object, DBUS_TYPE_ARRAY, "{sa{sv}}", &interfaces);
    dbus_message_iter_open_container(&interfaces, DBUS_TYPE_DICT_ENTRY, NULL, &entry);
    dbus_message_iter_append_basic(&entry, DBUS_TYPE_STRING, &interface);
    dbus_message_iter_open_container(&entry, DBUS_TYPE_ARRAY, "{sv}", &properties);
    append_property(&properties, "UUID", DBUS_TYPE_STRING, &uuid);
    if (takes_handles) append_property(&properties, "Handle", DBUS_TYPE_UINT16, &handle);
    if (number < 0) {
        append_property(&properties, "Primary", DBUS_TYPE_BOOLEAN, &yes);
    } else {
        append_property(&properties, "Service", DBUS_TYPE_OBJECT_PATH, &service);
        append_flags(&properties);
        append_property(&properties, "NotifyAcquired", DBUS_TYPE_BOOLEAN, &no);
    }
    dbus_message_iter_close_container(&entry, &properties);
    dbus_message_iter_close_container(&interfaces, &entry);
    dbus_message_iter_close_container(&object, &interfaces);
    dbus_message_iter_close_container(objects, &object);
}

static DBusHandlerResult handle_message(DBusConnection *connection, DBusMessage *message, void *data) {
    const registration_program *program = data;
    if (dbus_message_is_method_call(message, DBUS_INTERFACE_PROPERTIES, "Set")) {
        DBusMessage *done = dbus_message_new_method_return(message);
        dbus_connection_send(connection, done, NULL);
        dbus_message_unref(done);
        return DBUS_HANDLER_RESULT_HANDLED;
    }
    if (!dbus_message_is_method_call(message, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")) {
        return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
    }
    DBusMessage *reply = dbus_message_new_method_return(message);
    DBusMessageIter arguments, objects;
    dbus_message_iter_init_append(reply, &arguments);
    dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, "{oa{sa{sv}}}", &objects);
    for (int number = -1; number < program->characteristics; number++) {
        append_object(&objects, number, program->takes_handles);
    }
    dbus_message_iter_close_container(&arguments, &objects);
    dbus_connection_send(connection, reply, NULL);
    dbus_message_unref(reply);
    return DBUS_HANDLER_RESULT_HANDLED;
}

registration_program *registration_open(int characteristics, bool takes_handles) {
    static const DBusObjectPathVTable table = {.message_function = handle_message};
    registration_program *program = malloc(sizeof *program);
    if (!program) return NULL;
    program->characteristics = characteristics;
    program->takes_handles = takes_handles;
    program->connection = open_system_bus();
    if (!program->connection) {
        free(program);
        return NULL;
    }
    dbus_connection_register_fallback(program->connection, ROOT, &table, program);
    return program;
}

void registration_close(registration_program *program) {
    close_system_bus(program->connection);
    free(program);
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Calls a method of the manager, and serves until the reply. The result is the time, or -1 after an error. */
static int64_t call_manager(registration_program *program, const char *method) {
    static const char *root = ROOT;
    DBusMessage *call =
        dbus_message_new_method_call("org.bluez", "/org/bluez/hci0", "org.bluez.GattManager1", method);
    DBusMessageIter arguments, options;
    dbus_message_iter_init_append(call, &arguments);
    dbus_message_iter_append_basic(&arguments, DBUS_TYPE_OBJECT_PATH, &root);
    if (method[0] == 'R') {
        dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, "{sv}", &options);
        dbus_message_iter_close_container(&arguments, &options);
    }
    DBusPendingCall *pending = NULL;
    int64_t start = now();
    dbus_connection_send_with_reply(program->connection, call, &pending, 30000);
    dbus_message_unref(call);
    if (!pending) return -1;
    while (!dbus_pending_call_get_completed(pending)
           && dbus_connection_read_write_dispatch(program->connection, 30000)) {
    }
    int64_t time = now() - start;
    DBusMessage *reply = dbus_pending_call_steal_reply(pending);
    dbus_pending_call_unref(pending);
    if (!reply || dbus_message_get_type(reply) == DBUS_MESSAGE_TYPE_ERROR) time = -1;
    if (reply) dbus_message_unref(reply);
    return time;
}

int64_t registration_time(registration_program *program) {
    int64_t time = call_manager(program, "RegisterApplication");
    return call_manager(program, "UnregisterApplication") < 0 ? -1 : time;
}
