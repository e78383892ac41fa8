#ifndef PERIPHERAL_REGISTRATION_H
#define PERIPHERAL_REGISTRATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A plain C program's GATT application: one service whose characteristics are read and notified. All
 * functions block, and need a thread of their own. */
typedef struct registration_program registration_program;

/* Connects to the system bus. If the program takes handles, its objects have the property Handle, and
 * bluetoothd sets it. The result is NULL after an error. */
registration_program *registration_open(int characteristics, bool takes_handles);
void registration_close(registration_program *program);

/* Registers the application, and unregisters it. The result is the time from RegisterApplication to its
 * reply in nanoseconds, or -1. */
int64_t registration_time(registration_program *program);

/* Lets root introspect every program on the system bus, until the virtual machine ends. The result is 0, or
 * 1 after an error. */
int registration_allow_introspection(void);

/* The objects that a process exports on the system bus below /peripheral and /peripheral_NUMBER: a line with
 * the path, the interface and the UUID for each object. A line with the path alone is a root without objects.
 * The caller frees the text. The result is NULL after an error. */
char *registration_objects(int process);

/* The bytes that this process has allocated and not freed. */
size_t registration_heap(void);

#endif
