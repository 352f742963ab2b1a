/* See tree_log.h. */
#include "common/logging/tree_log.h"

#include "common/logging/counts.h"
#include "common/messages/comms.h"
#include "faultline.h"

#include <stdlib.h>

static struct {
    struct part *first, *last;
    bool gave_back; /* one of them */
} parts;

static void add_at(struct part **link, const struct part *part)
{
    struct part *made = memory(1, sizeof *made);
    *made = *part;
    if (made->members)
        comm_hold(made->members);
    made->next = *link;
    *link = made;
    if (!made->next)
        parts.last = made;
    logging_note(FAULTLINE_KEPT_PART, part->comm, self.rank, part->to, part->number, 0);
}

void tree_log_add(const struct part *part)
{
    add_at(parts.last ? &parts.last->next : &parts.first, part);
}

static struct part *contribution(uint64_t comm, uint64_t number)
{
    struct part *part = parts.first;
    while (part && (part->comm != comm || part->number != number || part->to == NOBODY))
        part = part->next;
    return part;
}

void tree_log_give_back(const struct part *part)
{
    struct part **link = &parts.first;
    if (contribution(part->comm, part->number)) {
        letter_bytes_drop(part->bytes);
        return;
    }
    while (*link && ((*link)->comm != part->comm || (*link)->number < part->number))
        link = &(*link)->next;
    add_at(link, part);
    parts.gave_back = true;
}

bool tree_log_was_given_back(uint64_t comm, uint64_t number)
{
    return parts.gave_back && contribution(comm, number);
}

struct part *tree_log_first(void)
{
    return parts.first;
}

static void note_dropped(const struct part *part)
{
    logging_note(FAULTLINE_DROPPED, part->comm, 0, part->to, part->number, 0);
}

void tree_log_forget_payload(struct part *part, struct letter_bytes *bytes)
{
    note_dropped(part);
    part->has_payload = false;
    counts.forgotten += part->bytes->size - bytes->size;
    letter_bytes_drop(part->bytes);
    part->bytes = bytes;
}

static void remove_first(void)
{
    struct part *part = parts.first;
    parts.first = part->next;
    if (!parts.first)
        parts.last = NULL;
    if (part->members)
        comm_drop(part->members);
    letter_bytes_drop(part->bytes);
    free(part);
}

void tree_log_drop_before(uint64_t line)
{
    while (parts.first && parts.first->line < line) {
        if (parts.first->has_payload)
            note_dropped(parts.first);
        remove_first();
    }
}

void tree_log_close(void)
{
    while (parts.first)
        remove_first();
}
