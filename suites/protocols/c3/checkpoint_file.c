/* See checkpoint_file.h. */
#include "c3/checkpoint_file.h"

#include "c3/collectives/collective.h"
#include "c3/collectives/reexec.h"
#include "c3/pending.h"
#include "common/communicators/handles.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void put_part(struct bytes *all, void (*save)(struct bytes *part))
{
    struct bytes part = {0};
    save(&part);
    if (part.failed)
        die("out of memory for a checkpoint");
    bytes_put_row(all, part.data, part.size);
    bytes_release(&part);
}

void checkpoint_file_save(void)
{
    struct error error;
    struct bytes all = {0};
    size_t count;
    const struct early *early = suppress_list(&count);
    bytes_put_number(&all, self.next_place);
    bytes_put_row(&all, early, count * sizeof *early);
    put_part(&all, handles_save);
    put_part(&all, collective_numbers_save);
    put_part(&all, reexec_save);
    put_part(&all, pending_save);
    if (all.failed)
        die("out of memory for a checkpoint");
    must(line_save_with(&self.store, self.epoch, &self.state, all.data, all.size, &error), &error);
    bytes_release(&all);
}

void checkpoint_file_load(uint64_t line, struct checkpoint *checkpoint)
{
    struct error error;
    uint64_t bytes;
    must(line_load_with(&self.store, line, &self.state, &checkpoint->content, &bytes, &error),
         &error);
    struct reader in = {.next = checkpoint->content, .left = bytes};
    checkpoint->next_place = reader_number(&in);
    struct reader early = reader_row(&in);
    checkpoint->handles = reader_row(&in);
    checkpoint->numbers = reader_row(&in);
    checkpoint->reexec = reader_row(&in);
    checkpoint->requests = reader_row(&in);
    if (in.failed || in.left > 0 || early.left % sizeof(struct early) != 0)
        die("the checkpoint of line %" PRIu64 " holds something else after the state", line);
    checkpoint->early_count = early.left / sizeof(struct early);
    checkpoint->early = memory(checkpoint->early_count, sizeof(struct early));
    if (early.left > 0)
        memcpy(checkpoint->early, early.next, early.left);
}

void checkpoint_add_early(struct checkpoint *checkpoint, const struct early *early, size_t count)
{
    if (count == 0)
        return;
    size_t before = checkpoint->early_count;
    checkpoint->early_count += count;
    checkpoint->early =
        larger(checkpoint->early, checkpoint->early_count * sizeof *checkpoint->early);
    memcpy(checkpoint->early + before, early, count * sizeof *early);
}

void checkpoint_file_release(struct checkpoint *checkpoint)
{
    free(checkpoint->early);
    free(checkpoint->content);
}
