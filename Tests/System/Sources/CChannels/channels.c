#include "channels.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* From <bluetooth/bluetooth.h> and <bluetooth/l2cap.h>. */
enum { ADDRESS_FAMILY = 31, PROTOCOL = 0, LEVEL = 274, SEND_MTU = 12, RECEIVE_MTU = 13, LOW_ENERGY = 1 };

struct l2cap_address {
    uint16_t family, psm;
    uint8_t address[6];
    uint16_t channel;
    uint8_t type;
};

static uint8_t pattern(uint64_t position) { return (uint8_t)(position * 167 ^ position >> 8); }

int channels_listen(uint16_t psm, uint16_t mtu) {
    int listener = socket(ADDRESS_FAMILY, SOCK_SEQPACKET | SOCK_CLOEXEC, PROTOCOL);
    struct l2cap_address address = {.family = ADDRESS_FAMILY, .psm = psm, .type = LOW_ENERGY};
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        setsockopt(listener, LEVEL, RECEIVE_MTU, &mtu, sizeof mtu) != 0 || listen(listener, 4) != 0)
        return -1;
    return listener;
}

static int64_t receive_all(int channel, uint8_t *packet) {
    uint64_t position = 0;
    /* The first report of the end can precede packets that still wait. */
    for (int ends = 0; ends < 2;) {
        ssize_t count = recv(channel, packet, 65535, 0);
        ends = count <= 0 ? ends + 1 : 0;
        for (ssize_t i = 0; i < count; i++, position++)
            if (packet[i] != pattern(position))
                return -1;
    }
    return (int64_t)position;
}

static int64_t send_all(int channel, uint8_t *packet, uint32_t bytes) {
    uint16_t mtu = 0;
    socklen_t size = sizeof mtu;
    if (getsockopt(channel, LEVEL, SEND_MTU, &mtu, &size) != 0)
        return -1;
    for (uint64_t position = 0; position < bytes;) {
        size_t count = bytes - position < mtu ? bytes - position : mtu;
        for (size_t i = 0; i < count; i++)
            packet[i] = pattern(position + i);
        if (send(channel, packet, count, MSG_NOSIGNAL) != (ssize_t)count)
            return -1;
        position += count;
    }
    /* The central closes the channel when it has everything. */
    recv(channel, packet, 65535, 0);
    return 0;
}

int64_t channels_serve(int listener) {
    int channel = accept(listener, NULL, NULL);
    uint8_t *packet = malloc(65535);
    int64_t result = -1;
    uint32_t bytes;
    if (channel >= 0 && packet && recv(channel, packet, 65535, 0) == sizeof bytes) {
        memcpy(&bytes, packet, sizeof bytes);
        result = bytes ? send_all(channel, packet, bytes) : receive_all(channel, packet);
    }
    free(packet);
    if (channel >= 0)
        close(channel);
    return result;
}
