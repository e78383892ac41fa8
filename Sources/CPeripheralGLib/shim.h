#ifndef PERIPHERAL_GLIB_SHIM_H
#define PERIPHERAL_GLIB_SHIM_H

#include <glib.h>
#include <glib-unix.h>

/* Newer versions of GLib declare these enumerations to be flags, whose members have other names in Swift.
 * Without that for key files, keys with a language are chosen by the user's. */
static const GKeyFileFlags peripheral_key_file_flags = G_KEY_FILE_KEEP_TRANSLATIONS;
static const GFileSetContentsFlags peripheral_file_flags = G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE;
static const GSpawnFlags peripheral_spawn_flags =
    G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDERR_TO_DEV_NULL;

#ifdef __linux__
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* Set up for a child between fork and exec: it is killed when the thread that forked it ends, however that ends.
 * Swift does not import prctl, which takes variable arguments. `parent` is the process id of the parent: if it is
 * gone already, the signal would never come. */
static inline void peripheral_die_with_parent(gpointer parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != (pid_t)GPOINTER_TO_INT(parent)) _exit(127);
}

/* glibc and musl declare it for those alone who define _GNU_SOURCE, as Swift does not. */
char *secure_getenv(const char *name);

/* What Foundation's run loop has of Dispatch, in whose main queue the jobs of the main actor are before Swift 6.3: a
 * descriptor that can be read when there are any, and what runs them, on the main thread. */
int _dispatch_get_main_queue_handle_4CF(void);
void _dispatch_main_queue_callback_4CF(void *message);
#endif

#endif
