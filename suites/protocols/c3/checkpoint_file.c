/* See checkpoint_file.h. */
#include "c3/checkpoint_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Behind the state: this, the early messages, the requests. */
struct stored_head {
    uint64_t early;      /* entries */
    uint64_t next_place; /* of receives */
};

void checkpoint_file_save(void)
{
    struct error error;
    size_t count;
    const struct early *early = suppress_list(&count);
    struct stored_head head = {.early = count, .next_place = self.next_place};
    uint64_t bytes = sizeof head + count * sizeof *early;
    char *extra = memory(1, bytes);
    memcpy(extra, &head, sizeof head);
    if (count > 0)
        memcpy(extra + sizeof head, early, count * sizeof *early);
    must(line_save_with(&self.store, self.epoch, &self.state, extra, bytes, &error), &error);
    free(extra);
}

void checkpoint_file_load(uint64_t line, struct early **early, size_t *count)
{
    struct error error;
    struct stored_head head = {0};
    void *extra;
    uint64_t bytes;
    must(line_load_with(&self.store, line, &self.state, &extra, &bytes, &error), &error);
    if (bytes >= sizeof head)
        memcpy(&head, extra, sizeof head);
    if (bytes < sizeof head || head.early > (bytes - sizeof head) / sizeof **early)
        die("the checkpoint of line %" PRIu64 " has no list of early messages", line);
    *count = (size_t)head.early;
    *early = memory(*count, sizeof **early);
    if (*count > 0)
        memcpy(*early, (char *)extra + sizeof head, *count * sizeof **early);
    self.next_place = head.next_place;
    free(extra);
}

void checkpoint_file_requests(void)
{
}
