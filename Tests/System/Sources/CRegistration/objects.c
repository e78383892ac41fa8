/* Lists the objects that a process exports, as any other program sees them. */

#include "calls.h"
#include "registration.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT 10000
#define POLICY "/etc/dbus-1/system.d/conformance-runner.conf"

/* Calls a method, whose one argument can be a string. The result is NULL after an error. */
static DBusMessage *ask(
    DBusConnection *bus, const char *name, const char *path, const char *interface, const char *method,
    const char *argument) {
    DBusMessage *call = dbus_message_new_method_call(name, path, interface, method);
    if (argument) dbus_message_append_args(call, DBUS_TYPE_STRING, &argument, DBUS_TYPE_INVALID);
    DBusMessage *reply = dbus_connection_send_with_reply_and_block(bus, call, TIMEOUT, NULL);
    dbus_message_unref(call);
    return reply;
}

static bool belongs_to(DBusConnection *bus, const char *name, int process) {
    dbus_uint32_t owner = 0;
    DBusMessage *reply =
        ask(bus, DBUS_SERVICE_DBUS, DBUS_PATH_DBUS, DBUS_INTERFACE_DBUS, "GetConnectionUnixProcessID", name);
    if (!reply) return false;
    dbus_message_get_args(reply, NULL, DBUS_TYPE_UINT32, &owner, DBUS_TYPE_INVALID);
    dbus_message_unref(reply);
    return owner == (dbus_uint32_t)process;
}

/* Prints the UUID that an interface of an object has. */
static void print_interface(FILE *out, const char *path, DBusMessageIter *entry) {
    DBusMessageIter properties, property, value;
    const char *interface, *key, *uuid = "-";
    dbus_message_iter_get_basic(entry, &interface);
    dbus_message_iter_next(entry);
    dbus_message_iter_recurse(entry, &properties);
    for (; dbus_message_iter_get_arg_type(&properties) == DBUS_TYPE_DICT_ENTRY; dbus_message_iter_next(&properties)) {
        dbus_message_iter_recurse(&properties, &property);
        dbus_message_iter_get_basic(&property, &key);
        dbus_message_iter_next(&property);
        dbus_message_iter_recurse(&property, &value);
        if (strcmp(key, "UUID") == 0) dbus_message_iter_get_basic(&value, &uuid);
    }
    if (strncmp(interface, "org.bluez.", 10) == 0) fprintf(out, "%s %s %s\n", path, interface, uuid);
}

/* Prints the objects below a root, or the root alone if it has none. */
static void print_root(FILE *out, DBusConnection *bus, const char *name, const char *root) {
    DBusMessageIter arguments, objects, object, interfaces, entry;
    const char *path;
    bool is_empty = true;
    DBusMessage *reply = ask(bus, name, root, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", NULL);
    if (reply && dbus_message_has_signature(reply, "a{oa{sa{sv}}}")) {
        dbus_message_iter_init(reply, &arguments);
        dbus_message_iter_recurse(&arguments, &objects);
        for (; dbus_message_iter_get_arg_type(&objects) == DBUS_TYPE_DICT_ENTRY; dbus_message_iter_next(&objects)) {
            dbus_message_iter_recurse(&objects, &object);
            dbus_message_iter_get_basic(&object, &path);
            dbus_message_iter_next(&object);
            dbus_message_iter_recurse(&object, &interfaces);
            for (; dbus_message_iter_get_arg_type(&interfaces) == DBUS_TYPE_DICT_ENTRY;
                 dbus_message_iter_next(&interfaces)) {
                dbus_message_iter_recurse(&interfaces, &entry);
                print_interface(out, path, &entry);
            }
            is_empty = false;
        }
    }
    if (reply) dbus_message_unref(reply);
    if (is_empty) fprintf(out, "%s\n", root);
}

static bool is_root(const char *node) {
    return strcmp(node, "peripheral") == 0
        || (strncmp(node, "peripheral_", 11) == 0 && node[11] && strspn(node + 11, "0123456789") == strlen(node + 11));
}

static void print_roots(FILE *out, DBusConnection *bus, const char *name) {
    static const char mark[] = "<node name=\"";
    const char *xml = NULL;
    DBusMessage *reply = ask(bus, name, "/", DBUS_INTERFACE_INTROSPECTABLE, "Introspect", NULL);
    if (!reply) return;
    if (!dbus_message_get_args(reply, NULL, DBUS_TYPE_STRING, &xml, DBUS_TYPE_INVALID)) xml = "";
    while ((xml = strstr(xml, mark))) {
        xml += strlen(mark);
        char root[64] = "/";
        size_t length = strcspn(xml, "\"");
        if (length > sizeof root - 2) continue;
        memcpy(root + 1, xml, length);
        if (is_root(root + 1)) print_root(out, bus, name, root);
    }
    dbus_message_unref(reply);
}

int registration_allow_introspection(void) {
    FILE *policy = fopen(POLICY, "w");
    if (!policy) return 1;
    fputs(
        "<busconfig><policy user=\"root\"><allow send_interface=\"" DBUS_INTERFACE_INTROSPECTABLE
        "\"/></policy></busconfig>\n",
        policy);
    fclose(policy);
    DBusConnection *bus = open_system_bus();
    if (!bus) return 1;
    DBusMessage *reply =
        ask(bus, DBUS_SERVICE_DBUS, DBUS_PATH_DBUS, DBUS_INTERFACE_DBUS, "ReloadConfig", NULL);
    if (reply) dbus_message_unref(reply);
    close_system_bus(bus);
    return reply ? 0 : 1;
}

char *registration_objects(int process) {
    char *text = NULL, **names = NULL;
    size_t size = 0;
    int count = 0;
    DBusConnection *bus = open_system_bus();
    if (!bus) return NULL;
    FILE *out = open_memstream(&text, &size);
    DBusMessage *reply =
        ask(bus, DBUS_SERVICE_DBUS, DBUS_PATH_DBUS, DBUS_INTERFACE_DBUS, "ListNames", NULL);
    if (reply) {
        dbus_message_get_args(
            reply, NULL, DBUS_TYPE_ARRAY, DBUS_TYPE_STRING, &names, &count, DBUS_TYPE_INVALID);
        dbus_message_unref(reply);
    }
    for (int i = 0; i < count; i++) {
        /* This connection belongs to the process as well, and would not answer itself. */
        if (names[i][0] != ':' || strcmp(names[i], dbus_bus_get_unique_name(bus)) == 0) continue;
        if (belongs_to(bus, names[i], process)) print_roots(out, bus, names[i]);
    }
    if (names) dbus_free_string_array(names);
    close_system_bus(bus);
    fclose(out);
    return text;
}

size_t registration_heap(void) { return mallinfo2().uordblks; }
