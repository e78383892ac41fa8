/* The plainest server that libdbus makes: blocking, one object for each value, options parsed and dropped. */

#include "benchmark.h"
#include "notifier.h"

#include <dbus/dbus.h>
#include <stdbool.h>
#include <string.h>

struct value {
    int size;
    unsigned char bytes[512];
};

struct options {
    const char *device;
    const char *link;
    dbus_uint16_t mtu;
    dbus_uint16_t offset;
};

static bool parse_options(DBusMessageIter *arguments, struct options *options) {
    DBusMessageIter dictionary;
    if (dbus_message_iter_get_arg_type(arguments) != DBUS_TYPE_ARRAY) return false;
    dbus_message_iter_recurse(arguments, &dictionary);
    while (dbus_message_iter_get_arg_type(&dictionary) == DBUS_TYPE_DICT_ENTRY) {
        DBusMessageIter entry, value;
        const char *key;
        dbus_message_iter_recurse(&dictionary, &entry);
        dbus_message_iter_get_basic(&entry, &key);
        dbus_message_iter_next(&entry);
        dbus_message_iter_recurse(&entry, &value);
        int type = dbus_message_iter_get_arg_type(&value);
        if (strcmp(key, "device") == 0 && type == DBUS_TYPE_OBJECT_PATH) {
            dbus_message_iter_get_basic(&value, &options->device);
        } else if (strcmp(key, "mtu") == 0 && type == DBUS_TYPE_UINT16) {
            dbus_message_iter_get_basic(&value, &options->mtu);
        } else if (strcmp(key, "link") == 0 && type == DBUS_TYPE_STRING) {
            dbus_message_iter_get_basic(&value, &options->link);
        } else if (strcmp(key, "offset") == 0 && type == DBUS_TYPE_UINT16) {
            dbus_message_iter_get_basic(&value, &options->offset);
        }
        dbus_message_iter_next(&dictionary);
    }
    return options->device != NULL;
}

static DBusMessage *read_value(DBusMessage *call, const struct value *value) {
    struct options options = {0};
    DBusMessageIter request;
    if (!dbus_message_iter_init(call, &request) || !parse_options(&request, &options)) {
        return dbus_message_new_error(call, DBUS_ERROR_INVALID_ARGS, "options");
    }
    if (options.offset > value->size) return dbus_message_new_error(call, "org.bluez.Error.InvalidOffset", "");
    DBusMessage *reply = dbus_message_new_method_return(call);
    DBusMessageIter arguments, array;
    const unsigned char *start = value->bytes + options.offset;
    dbus_message_iter_init_append(reply, &arguments);
    dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, "y", &array);
    dbus_message_iter_append_fixed_array(&array, DBUS_TYPE_BYTE, &start, value->size - options.offset);
    dbus_message_iter_close_container(&arguments, &array);
    return reply;
}

static DBusMessage *write_value(DBusMessage *call, struct value *value) {
    struct options options = {0};
    DBusMessageIter arguments, array;
    const unsigned char *bytes;
    int size = 0;
    if (!dbus_message_has_signature(call, "aya{sv}") || !dbus_message_iter_init(call, &arguments)) {
        return dbus_message_new_error(call, DBUS_ERROR_INVALID_ARGS, "value");
    }
    dbus_message_iter_recurse(&arguments, &array);
    dbus_message_iter_get_fixed_array(&array, &bytes, &size);
    dbus_message_iter_next(&arguments);
    if (!parse_options(&arguments, &options)) return dbus_message_new_error(call, DBUS_ERROR_INVALID_ARGS, "options");
    if (options.offset + size > value->size) {
        return dbus_message_new_error(call, "org.bluez.Error.InvalidValueLength", "");
    }
    memcpy(value->bytes + options.offset, bytes, size);
    return dbus_message_new_method_return(call);
}

static DBusHandlerResult handle_message(DBusConnection *connection, DBusMessage *message, void *data) {
    DBusMessage *reply;
    if (dbus_message_is_method_call(message, "org.bluez.GattCharacteristic1", "ReadValue")) {
        reply = read_value(message, data);
    } else if (dbus_message_is_method_call(message, "org.bluez.GattCharacteristic1", "WriteValue")) {
        reply = write_value(message, data);
    } else {
        return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
    }
    dbus_connection_send(connection, reply, NULL);
    dbus_message_unref(reply);
    return DBUS_HANDLER_RESULT_HANDLED;
}

int benchmark_run_server(const char *address, const char *name) {
    static const DBusObjectPathVTable table = {.message_function = handle_message};
    static struct value small = {.size = 20}, large = {.size = 512};
    DBusConnection *connection = dbus_connection_open_private(address, NULL);
    if (!connection || !dbus_bus_register(connection, NULL)) return 1;
    dbus_connection_set_exit_on_disconnect(connection, FALSE);
    dbus_connection_register_object_path(connection, "/value20", &table, &small);
    dbus_connection_register_object_path(connection, "/value512", &table, &large);
    benchmark_register_notifier(connection);
    if (dbus_bus_request_name(connection, name, 0, NULL) != DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER) return 1;
    while (dbus_connection_read_write_dispatch(connection, -1)) {
    }
    return 0;
}
