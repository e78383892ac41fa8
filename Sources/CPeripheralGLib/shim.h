#ifndef PERIPHERAL_GLIB_SHIM_H
#define PERIPHERAL_GLIB_SHIM_H

#include <glib.h>
#include <glib-unix.h>

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
#endif

#endif
