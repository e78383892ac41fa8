/* What bluetoothd is to a peripheral, as far as registering and reading go. */

#define _GNU_SOURCE
#include "benchmark.h"

#include <errno.h>
#include <dbus/dbus.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>

enum { max_characteristics = 16, max_in_flight = 64 };

struct benchmark_daemon {
    DBusConnection *connection;
    char *peripheral;
    char *characteristics[max_characteristics];
    size_t characteristic_count;
    bool is_advertised;
};

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* ---- Registration ---- */

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
    dbus_connection_close(daemon->connection);
    dbus_connection_unref(daemon->connection);
    for (size_t index = 0; index < daemon->characteristic_count; index++) free(daemon->characteristics[index]);
    free(daemon->peripheral);
    free(daemon);
}

int benchmark_daemon_await_peripheral(benchmark_daemon *daemon) {
    while (!daemon->is_advertised) {
        if (!dbus_connection_read_write_dispatch(daemon->connection, -1)) return 1;
    }
    return 0;
}

const char *benchmark_daemon_peripheral(const benchmark_daemon *daemon) { return daemon->peripheral; }

const char *benchmark_daemon_characteristic(const benchmark_daemon *daemon, size_t index) {
    return index < daemon->characteristic_count ? daemon->characteristics[index] : NULL;
}

char *benchmark_daemon_await_owner(benchmark_daemon *daemon, const char *name) {
    struct timespec pause = {.tv_nsec = 5000000};
    while (!dbus_bus_name_has_owner(daemon->connection, name, NULL)) nanosleep(&pause, NULL);
    return strdup(name);
}

/* ---- Reading ---- */

struct measurement {
    benchmark_daemon *daemon;
    const char *destination, *path;
    size_t size, calls, sent, answered;
    int64_t *latencies;
    bool has_failed;
};

struct request {
    struct measurement *measurement;
    int64_t start;
};

static void append_option(DBusMessageIter *options, const char *key, int type, const char *signature, const void *value) {
    DBusMessageIter entry, variant;
    dbus_message_iter_open_container(options, DBUS_TYPE_DICT_ENTRY, NULL, &entry);
    dbus_message_iter_append_basic(&entry, DBUS_TYPE_STRING, &key);
    dbus_message_iter_open_container(&entry, DBUS_TYPE_VARIANT, signature, &variant);
    dbus_message_iter_append_basic(&variant, type, value);
    dbus_message_iter_close_container(&entry, &variant);
    dbus_message_iter_close_container(options, &entry);
}

/* The options as bluetoothd sends them. */
static void append_options(DBusMessageIter *arguments) {
    const char *device = "/org/bluez/hci0/dev_C0_FF_EE_00_00_01", *link = "LE";
    dbus_uint16_t mtu = 517;
    DBusMessageIter options;
    dbus_message_iter_open_container(arguments, DBUS_TYPE_ARRAY, "{sv}", &options);
    append_option(&options, "device", DBUS_TYPE_OBJECT_PATH, "o", &device);
    append_option(&options, "mtu", DBUS_TYPE_UINT16, "q", &mtu);
    append_option(&options, "link", DBUS_TYPE_STRING, "s", &link);
    dbus_message_iter_close_container(arguments, &options);
}

static DBusMessage *make_call(const struct measurement *measurement) {
    DBusMessageIter arguments;
    DBusMessage *call = dbus_message_new_method_call(
        measurement->destination, measurement->path, "org.bluez.GattCharacteristic1", "ReadValue");
    dbus_message_iter_init_append(call, &arguments);
    append_options(&arguments);
    return call;
}

static bool has_size(DBusMessage *reply, size_t size) {
    DBusMessageIter arguments, array;
    const unsigned char *bytes;
    int count = 0;
    if (!dbus_message_has_signature(reply, "ay") || !dbus_message_iter_init(reply, &arguments)) return false;
    dbus_message_iter_recurse(&arguments, &array);
    dbus_message_iter_get_fixed_array(&array, &bytes, &count);
    return (size_t)count == size;
}

static void send_next(struct measurement *measurement, struct request *request);

static void take_answer(DBusPendingCall *pending, void *data) {
    struct request *request = data;
    struct measurement *measurement = request->measurement;
    DBusMessage *reply = dbus_pending_call_steal_reply(pending);
    if (measurement->latencies) measurement->latencies[measurement->answered] = now() - request->start;
    measurement->answered++;
    if (!has_size(reply, measurement->size)) measurement->has_failed = true;
    dbus_message_unref(reply);
    send_next(measurement, request);
}

static void send_next(struct measurement *measurement, struct request *request) {
    DBusPendingCall *pending;
    if (measurement->sent == measurement->calls) return;
    measurement->sent++;
    DBusMessage *call = make_call(measurement);
    request->measurement = measurement;
    request->start = now();
    dbus_connection_send_with_reply(measurement->daemon->connection, call, &pending, 30000);
    dbus_pending_call_set_notify(pending, take_answer, request, NULL);
    dbus_pending_call_unref(pending);
    dbus_message_unref(call);
}

int benchmark_daemon_read(
    benchmark_daemon *daemon, const char *destination, const char *path, size_t size, size_t calls, size_t in_flight,
    int64_t *latencies) {
    struct request requests[max_in_flight];
    struct measurement measurement = {
        .daemon = daemon, .destination = destination, .path = path, .size = size, .calls = calls, .latencies = latencies};
    if (in_flight > max_in_flight) return 1;
    for (size_t index = 0; index < in_flight; index++) send_next(&measurement, &requests[index]);
    while (measurement.answered < calls && !measurement.has_failed) {
        if (!dbus_connection_read_write_dispatch(daemon->connection, 30000)) return 1;
    }
    return measurement.has_failed;
}

/* ---- Notifications ---- */

int benchmark_daemon_subscribe(benchmark_daemon *daemon, const char *destination, const char *path) {
    struct timeval limit = {.tv_sec = 30};
    DBusMessageIter arguments;
    int socket = -1;
    DBusMessage *call =
        dbus_message_new_method_call(destination, path, "org.bluez.GattCharacteristic1", "AcquireNotify");
    dbus_message_iter_init_append(call, &arguments);
    append_options(&arguments);
    DBusMessage *reply = dbus_connection_send_with_reply_and_block(daemon->connection, call, 30000, NULL);
    dbus_message_unref(call);
    if (!reply) return -1;
    dbus_message_get_args(reply, NULL, DBUS_TYPE_UNIX_FD, &socket, DBUS_TYPE_INVALID);
    dbus_message_unref(reply);
    if (socket < 0) return -1;
    fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) & ~O_NONBLOCK);
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    return socket;
}

static int request_notifications(
    benchmark_daemon *daemon, const char *destination, const char *path, uint32_t count) {
    const unsigned char *bytes = (const unsigned char *)&count;
    DBusMessageIter arguments, array;
    DBusMessage *call =
        dbus_message_new_method_call(destination, path, "org.bluez.GattCharacteristic1", "WriteValue");
    dbus_message_iter_init_append(call, &arguments);
    dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, "y", &array);
    dbus_message_iter_append_fixed_array(&array, DBUS_TYPE_BYTE, &bytes, sizeof count);
    dbus_message_iter_close_container(&arguments, &array);
    append_options(&arguments);
    DBusMessage *reply = dbus_connection_send_with_reply_and_block(daemon->connection, call, 30000, NULL);
    dbus_message_unref(call);
    if (!reply) return 1;
    dbus_message_unref(reply);
    return 0;
}

int benchmark_daemon_take_notifications(
    benchmark_daemon *daemon, const char *destination, const char *path, int socket, size_t size, uint32_t count) {
    unsigned char packet[512];
    if (request_notifications(daemon, destination, path, count) != 0) return 1;
    while (count > 0) {
        /* Never asleep: to wake it would be at the cost of whoever sends, and of the slower one more often. */
        ssize_t received = recv(socket, packet, sizeof packet, MSG_DONTWAIT);
        if (received < 0 && errno == EAGAIN) {
            /* As bluetoothd does: the bus comes when there is nothing else. */
            if (!dbus_connection_read_write_dispatch(daemon->connection, 0)) return 1;
            continue;
        }
        if (received != (ssize_t)size) return 1;
        count--;
    }
    return 0;
}

/* ---- Processes ---- */

int64_t benchmark_processor_time(int process) {
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) return -1;
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

benchmark_processors benchmark_available_processors(void) {
    benchmark_processors processors = {.first = -1, .last = -1};
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return processors;
    for (int processor = 0; processor < CPU_SETSIZE; processor++) {
        if (!CPU_ISSET(processor, &set)) continue;
        if (processors.first < 0) processors.first = processor;
        processors.last = processor;
    }
    return processors;
}

int benchmark_stay_on_processor(int processor) {
    cpu_set_t set;
    if (processor < 0 || processor >= CPU_SETSIZE) return 1;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    return sched_setaffinity(0, sizeof set, &set);
}

void benchmark_die_with_parent(void) { prctl(PR_SET_PDEATHSIG, SIGKILL); }
