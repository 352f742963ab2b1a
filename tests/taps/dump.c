/* Traces as lines that a script reads: one record a line, key=value. Only for the tests of the
 * taps: it reads the files as they are defined, without the reader, so that it can also be trusted
 * to test that. Usage: dump TRACE... */
#include "trace/calls.h"
#include "trace/record.h"

#include <stdio.h>
#include <stdlib.h>

static void print_members(const struct record *r)
{
    for (int i = 0; i < RECORD_GROUP_MEMBERS; i++)
        printf("%s%d", i ? "," : " members=", r->members[i]);
}

static void print_fields(const struct record *r)
{
    printf(" comm=%u peer=%d tag=%d request=%u bytes=%llu hash=%llx want_peer=%d want_tag=%d "
           "result=%llx error=%u flags=%u enter=%llu leave=%llu",
           r->comm, r->peer, r->tag, r->request, (unsigned long long)r->bytes,
           (unsigned long long)r->hash, r->want_peer, r->want_tag,
           (unsigned long long)r->result_hash, r->error, r->flags, (unsigned long long)r->enter,
           (unsigned long long)r->leave);
}

static int dump(const char *path)
{
    static struct {
        struct trace_header header;
        char rest[TRACE_HEADER_BYTES - sizeof(struct trace_header)];
    } head;
    FILE *file = fopen(path, "rb");
    if (!file || fread(&head, sizeof head, 1, file) != 1) {
        fprintf(stderr, "dump: %s cannot be read\n", path);
        return 1;
    }
    struct record r;
    for (unsigned long i = 0; i < head.header.next && fread(&r, sizeof r, 1, file) == 1; i++) {
        printf("rank=%d index=%lu level=%s kind=%s call=%s operation=%s thread=%u",
               head.header.rank, i, level_text(r.level), record_kind_text(r.kind),
               call_name(r.call), call_operation_text(call_operation(r.call)), r.thread);
        if (r.kind == RECORD_GROUP)
            print_members(&r);
        else if (r.kind != RECORD_TEXT)
            print_fields(&r);
        printf("\n");
    }
    fclose(file);
    return 0;
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i < argc; i++)
        failed |= dump(argv[i]);
    return failed;
}
