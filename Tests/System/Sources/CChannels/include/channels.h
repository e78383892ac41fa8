#ifndef PERIPHERAL_CHANNELS_H
#define PERIPHERAL_CHANNELS_H

#include <stdint.h>

/* A plain C program that serves L2CAP channels, to compare with. Both functions block, and need a thread of
 * their own. */

/* Opens a listener on each adapter. The result is its descriptor, or -1. */
int channels_listen(uint16_t psm, uint16_t mtu);

/* Serves one channel, and closes it. Its first packet has the number of bytes to send to the central, in four
 * bytes, or 0 if the central sends. The bytes follow the pattern of `sendmany` in PROTOCOL.md. The result is
 * the number of received bytes, or -1 after an error or a wrong byte. */
int64_t channels_serve(int listener);

#endif
