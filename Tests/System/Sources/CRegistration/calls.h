#ifndef PERIPHERAL_REGISTRATION_CALLS_H
#define PERIPHERAL_REGISTRATION_CALLS_H

#include <dbus/dbus.h>

/* A private connection to the system bus, or NULL. */
DBusConnection *open_system_bus(void);
void close_system_bus(DBusConnection *connection);

#endif
