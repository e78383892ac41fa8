/* The processors of this machine, and the time and the memory that a process takes. */

#define _GNU_SOURCE
#include "benchmark.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

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

int64_t benchmark_resident_memory(int process) {
    char path[64];
    long long total, resident = -1;
    snprintf(path, sizeof path, "/proc/%d/statm", process);
    FILE *file = fopen(path, "r");
    if (!file) return -1;
    if (fscanf(file, "%lld %lld", &total, &resident) != 2) resident = -1;
    fclose(file);
    return resident < 0 ? -1 : resident * sysconf(_SC_PAGESIZE);
}
