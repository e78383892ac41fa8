#ifndef PERIPHERAL_BENCHMARK_DAEMON_H
#define PERIPHERAL_BENCHMARK_DAEMON_H

#include "benchmark.h"

#include <dbus/dbus.h>
#include <stdbool.h>

enum { max_characteristics = 16 };

struct benchmark_daemon {
    DBusConnection *connection;
    char *peripheral;
    char *characteristics[max_characteristics];
    size_t characteristic_count;
    bool is_registered, is_advertised;
    /* What has arrived over the bus. */
    bool takes_signals;
    size_t notified_size;
    uint32_t notified, notified_wrongly;
};

/* The latest end of a wait that begins now, in seconds, and whether it has passed. */
int64_t benchmark_latest_end(void);
bool benchmark_is_over(int64_t end);

/* Appends the options of a request, as bluetoothd sends them. */
void benchmark_append_options(DBusMessageIter *arguments);

/* Appends an array of bytes, which are zero. */
void benchmark_append_value(DBusMessageIter *arguments, size_t size);

#endif
