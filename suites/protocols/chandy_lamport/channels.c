/* See channels.h. In the file, after each other: the line, and the packets in order of arrival. */
#include "chandy_lamport/channels.h"

#include "common/base/durable.h"
#include "faultline.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define KIND_CHANNELS "FLCHANN"
#define NAME_BYTES 64 /* of a file, in its folder */

static struct {
    struct bytes stored;
} channels;

void channels_clear(void)
{
    bytes_release(&channels.stored);
}

void channels_record(uint64_t line, struct packet *packet)
{
    struct layer_message message;
    packet_write(packet, &channels.stored);
    if (channels.stored.failed)
        die("out of memory for the state of the channels");
    if (layer_describe(packet, &message))
        faultline_recorded(line, message.comm, message.peer, message.tag, message.data,
                           message.bytes);
    faultline_recorded_carried(line, (uint64_t)layer_comm(), packet->head.from,
                               (int)packet->head.kind, &packet->head,
                               sizeof packet->head + packet->head.bytes);
}

static void path_of(uint64_t line, char *path)
{
    snprintf(path, PATH_MAX, "%.*s/line-%" PRIu64 ".channels-%d", PATH_MAX - NAME_BYTES,
             self.store.folder, line, self.store.rank);
}

static enum error_code write_file(const char *path, uint64_t line, struct error *error)
{
    struct durable_file file;
    phase("before-channels-write");
    enum error_code code =
        durable_create(&file, path, KIND_CHANNELS, sizeof line + channels.stored.size, error);
    if (code == OK)
        code = durable_write(&file, &line, sizeof line, error);
    phase("mid-channels-write");
    if (code == OK)
        code = durable_write(&file, channels.stored.data, channels.stored.size, error);
    if (code == OK)
        code = durable_finish(&file, error);
    phase("before-channels-rename");
    if (code == OK)
        code = durable_publish(&file, error);
    phase("after-channels-rename");
    return code;
}

void channels_save(uint64_t line)
{
    char path[PATH_MAX];
    struct error error;
    path_of(line, path);
    must(write_file(path, line, &error), &error);
}

void channels_put_back(uint64_t line)
{
    char path[PATH_MAX];
    struct error error;
    void *payload;
    uint64_t bytes;
    path_of(line, path);
    must(durable_read(path, KIND_CHANNELS, &payload, &bytes, &error), &error);
    struct reader in = {.next = payload, .left = bytes};
    if (reader_number(&in) != line)
        die("%s: of another line", path);
    while (in.left > 0) {
        struct packet *packet = packet_read(&in);
        if (!packet)
            die("%s: damaged", path);
        layer_put_back(packet, line);
    }
    free(payload);
}

void channels_remove(uint64_t line)
{
    char path[PATH_MAX];
    path_of(line, path);
    unlink(path);
}
