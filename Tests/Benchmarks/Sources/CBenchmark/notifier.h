#ifndef PERIPHERAL_BENCHMARK_NOTIFIER_H
#define PERIPHERAL_BENCHMARK_NOTIFIER_H

#include <dbus/dbus.h>

/* Makes the objects /updates, whose AcquireNotify gives out a socket and whose StartNotify chooses the bus, and /count:
 * writing a number to it sends as many values of 20 bytes that way. */
void benchmark_register_notifier(DBusConnection *connection);

#endif
