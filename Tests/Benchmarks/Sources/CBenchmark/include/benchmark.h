#ifndef PERIPHERAL_BENCHMARK_H
#define PERIPHERAL_BENCHMARK_H

#include <stddef.h>
#include <stdint.h>

/* The server to compare with: has the name `name`, answers ReadValue and WriteValue on the paths /value20 and
 * /value512, and sends notifications of 20 bytes on /updates. Returns when the bus is gone. */
int benchmark_run_server(const char *address, const char *name);

/* The side that asks: org.bluez, as far as a peripheral needs it. A function returns 0, or 1 after an error or
 * if it has waited for half a minute. */
typedef struct benchmark_daemon benchmark_daemon;

benchmark_daemon *benchmark_daemon_open(const char *address);
void benchmark_daemon_close(benchmark_daemon *daemon);

/* Serves until a peripheral has registered its application and its advertisement. */
int benchmark_daemon_await_peripheral(benchmark_daemon *daemon);

/* Lets benchmark_daemon_await_peripheral wait for another one. */
void benchmark_daemon_forget_peripheral(benchmark_daemon *daemon);

/* The registered peripheral's unique name, and the path of its n-th characteristic, or NULL. */
const char *benchmark_daemon_peripheral(const benchmark_daemon *daemon);
const char *benchmark_daemon_characteristic(const benchmark_daemon *daemon, size_t index);

/* Waits until a name has an owner. */
int benchmark_daemon_await_owner(benchmark_daemon *daemon, const char *name);

typedef enum { benchmark_read, benchmark_write } benchmark_method;

/* Calls ReadValue or WriteValue `calls` times with BlueZ's options and `size` bytes, `in_flight` at a time, and checks
 * each answer. `latencies`, unless NULL, takes the time of each call in nanoseconds. */
int benchmark_daemon_request(
    benchmark_daemon *daemon, const char *destination, const char *path, benchmark_method method, size_t size,
    size_t calls, size_t in_flight, int64_t *latencies);

/* Subscribes by AcquireNotify; the result is the socket, or -1. */
int benchmark_daemon_subscribe_socket(benchmark_daemon *daemon, const char *destination, const char *path);

/* Subscribes by StartNotify. */
int benchmark_daemon_subscribe_bus(benchmark_daemon *daemon, const char *destination, const char *path);

/* Writes a number to a characteristic, for as many notifications, and takes them. Each must have `size` bytes. */
int benchmark_daemon_take_from_socket(
    benchmark_daemon *daemon, const char *destination, const char *path, int socket, size_t size, uint32_t count);
int benchmark_daemon_take_from_bus(
    benchmark_daemon *daemon, const char *destination, const char *path, size_t size, uint32_t count);

/* The processor time that a process has taken so far, in nanoseconds, or -1. */
int64_t benchmark_processor_time(int process);

/* The resident memory of a process in bytes, or -1. */
int64_t benchmark_resident_memory(int process);

/* The first and the last processor that this process may run on; the same where there is only one. */
typedef struct {
    int first, last;
} benchmark_processors;

benchmark_processors benchmark_available_processors(void);

/* Keeps the calling thread, and all threads and processes that it starts from now on, on one processor. */
int benchmark_stay_on_processor(int processor);

/* Has the process killed when its parent ends. */
void benchmark_die_with_parent(void);

#endif
