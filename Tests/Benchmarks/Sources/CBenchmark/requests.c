/* The requests of centrals, as bluetoothd passes them on. */

#include "daemon.h"

#include <time.h>

enum { max_in_flight = 64, max_size = 512 };

struct measurement {
    benchmark_daemon *daemon;
    const char *destination, *path;
    benchmark_method method;
    size_t size, calls, sent, answered;
    int64_t *latencies;
    bool has_failed;
};

struct request {
    struct measurement *measurement;
    int64_t start;
};

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void append_option(DBusMessageIter *options, const char *key, int type, const char *signature, const void *value) {
    DBusMessageIter entry, variant;
    dbus_message_iter_open_container(options, DBUS_TYPE_DICT_ENTRY, NULL, &entry);
    dbus_message_iter_append_basic(&entry, DBUS_TYPE_STRING, &key);
    dbus_message_iter_open_container(&entry, DBUS_TYPE_VARIANT, signature, &variant);
    dbus_message_iter_append_basic(&variant, type, value);
    dbus_message_iter_close_container(&entry, &variant);
    dbus_message_iter_close_container(options, &entry);
}

void benchmark_append_options(DBusMessageIter *arguments) {
    const char *device = "/org/bluez/hci0/dev_C0_FF_EE_00_00_01", *link = "LE";
    dbus_uint16_t mtu = 517;
    DBusMessageIter options;
    dbus_message_iter_open_container(arguments, DBUS_TYPE_ARRAY, "{sv}", &options);
    append_option(&options, "device", DBUS_TYPE_OBJECT_PATH, "o", &device);
    append_option(&options, "mtu", DBUS_TYPE_UINT16, "q", &mtu);
    append_option(&options, "link", DBUS_TYPE_STRING, "s", &link);
    dbus_message_iter_close_container(arguments, &options);
}

void benchmark_append_value(DBusMessageIter *arguments, size_t size) {
    static const unsigned char zeros[max_size];
    const unsigned char *bytes = zeros;
    DBusMessageIter array;
    dbus_message_iter_open_container(arguments, DBUS_TYPE_ARRAY, "y", &array);
    dbus_message_iter_append_fixed_array(&array, DBUS_TYPE_BYTE, &bytes, size);
    dbus_message_iter_close_container(arguments, &array);
}

static DBusMessage *make_call(const struct measurement *measurement) {
    DBusMessageIter arguments;
    const char *name = measurement->method == benchmark_write ? "WriteValue" : "ReadValue";
    DBusMessage *call = dbus_message_new_method_call(
        measurement->destination, measurement->path, "org.bluez.GattCharacteristic1", name);
    dbus_message_iter_init_append(call, &arguments);
    if (measurement->method == benchmark_write) benchmark_append_value(&arguments, measurement->size);
    benchmark_append_options(&arguments);
    return call;
}

static bool is_expected(const struct measurement *measurement, DBusMessage *reply) {
    DBusMessageIter arguments, array;
    const unsigned char *bytes;
    int count = 0;
    if (dbus_message_get_type(reply) != DBUS_MESSAGE_TYPE_METHOD_RETURN) return false;
    if (measurement->method == benchmark_write) return dbus_message_has_signature(reply, "");
    if (!dbus_message_has_signature(reply, "ay") || !dbus_message_iter_init(reply, &arguments)) return false;
    dbus_message_iter_recurse(&arguments, &array);
    dbus_message_iter_get_fixed_array(&array, &bytes, &count);
    return (size_t)count == measurement->size;
}

static void send_next(struct measurement *measurement, struct request *request);

static void take_answer(DBusPendingCall *pending, void *data) {
    struct request *request = data;
    struct measurement *measurement = request->measurement;
    DBusMessage *reply = dbus_pending_call_steal_reply(pending);
    if (measurement->latencies) measurement->latencies[measurement->answered] = now() - request->start;
    measurement->answered++;
    if (!is_expected(measurement, reply)) measurement->has_failed = true;
    dbus_message_unref(reply);
    send_next(measurement, request);
}

static void send_next(struct measurement *measurement, struct request *request) {
    DBusPendingCall *pending;
    if (measurement->sent == measurement->calls || measurement->has_failed) return;
    measurement->sent++;
    DBusMessage *call = make_call(measurement);
    request->measurement = measurement;
    request->start = now();
    dbus_connection_send_with_reply(measurement->daemon->connection, call, &pending, 30000);
    dbus_pending_call_set_notify(pending, take_answer, request, NULL);
    dbus_pending_call_unref(pending);
    dbus_message_unref(call);
}

int benchmark_daemon_request(
    benchmark_daemon *daemon, const char *destination, const char *path, benchmark_method method, size_t size,
    size_t calls, size_t in_flight, int64_t *latencies) {
    struct request requests[max_in_flight];
    struct measurement measurement = {
        .daemon = daemon, .destination = destination, .path = path, .method = method,
        .size = size, .calls = calls, .latencies = latencies};
    if (in_flight > max_in_flight || size > max_size) return 1;
    for (size_t index = 0; index < in_flight; index++) send_next(&measurement, &requests[index]);
    /* Also after a wrong answer: the other answers refer to this frame. */
    while (measurement.answered < measurement.sent) {
        if (!dbus_connection_read_write_dispatch(daemon->connection, 30000)) return 1;
    }
    return measurement.has_failed;
}
