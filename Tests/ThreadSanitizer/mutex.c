/* Tells the thread sanitizer what Swift's Mutex guarantees.
 *
 * The uncontended path of Synchronization.Mutex is compiled into its user and is instrumented with it; the contended
 * path lies in the library of the toolchain, which is not, and which leaves the order to the kernel. The sanitizer
 * then reports races between two owners of the same mutex. This library is preloaded when the tests run under the
 * sanitizer; it stands before the two functions of the contended path and adds the order that they establish. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

/* Weak: the tools that inherit the preloading run without the sanitizer. */
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

SWIFT void lock_slow(uint32_t thread, SELF void *mutex)
    __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
SWIFT void unlock_slow(SELF void *mutex) __asm__("$s15Synchronization12_MutexHandleV11_unlockSlowyyF");

SWIFT void lock_slow(uint32_t thread, SELF void *mutex) {
    SWIFT void (*original)(uint32_t, SELF void *) =
        dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
    original(thread, mutex);
    if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT void unlock_slow(SELF void *mutex) {
    SWIFT void (*original)(SELF void *) =
        dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV11_unlockSlowyyF");
    if (__tsan_release) __tsan_release(mutex);
    original(mutex);
}
