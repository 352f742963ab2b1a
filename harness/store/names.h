/* The names in the store while what was not synced is taken back: which file or folder each name
 * stands for on the disk, and which it is to stand for then. Made from the journal and a listing of
 * the disk, in memory alone. Must not know: how it is carried out (restore.h).
 *
 * A folder is a list of names, durable as of its last sync. So the store after a loss is what can
 * be reached from its top by durable names. An operation changes one name, or one in each of two
 * folders; it is taken back there if whose work is lost did it and nobody whose syncs count has
 * synced that folder afterwards. */
#ifndef STORE_NAMES_H
#define STORE_NAMES_H

#include "store/journal.h"
#include "store/power_failure.h"

#include <stddef.h>

#define NAMES_NEVER UINT64_MAX

/* An operation that was read together with the entry that ends it. */
struct ending {
    uint64_t at; /* index of its DONE or FAILED; NAMES_NEVER: none, or no operation */
    bool failed;
};

/* One name on the disk. */
struct listed {
    uint64_t folder, inode;
    bool is_folder;
    char text[JOURNAL_NAME_BYTES];
};

/* How far the syncs of one object by one rank reach. */
struct reach {
    int32_t rank;
    uint64_t covers;    /* operations that had ended before this entry */
    struct reach *next; /* by another rank */
};

/* What the journal says of the content of a file. */
struct content {
    bool made;    /* in this run */
    bool written; /* maybe, by somebody whose work is lost, since the last loss */
    bool shared;  /* others, whose work is not lost, may have written to it as well: what they have
                   * synced is kept, so the newest sync counts, whosever it is */
    bool synced;  /* by somebody whose syncs count, or else by anybody */
    bool own;     /* the first of the two */
    int rank;     /* whose copy it is */
};

/* A file or folder. Several may have had one number, one after the other. */
struct object {
    uint64_t number; /* inode when the journal spoke of it first */
    uint64_t inode;  /* its number on the disk; 0: it is not there */
    uint64_t born;   /* index of the operation that made it, + 1; 0: it was there before */
    bool is_folder;
    struct content content;
    struct reach *reach;
    struct name *place;  /* where it is on the disk; NULL: not there, or the top */
    struct name *home;   /* of a folder: where it is to be; NULL: nowhere, or the top */
    unsigned names;      /* it is to have; of a folder, and not counted for others */
    bool reached;        /* of a folder: it is to be in the store */
    bool staged;         /* restore.h: it is in gone/ */
    bool remade;         /* restore.h: it was made again, `inode` is its number from now on */
    struct object *same; /* only a number that this one got when it was made again; NULL: none */
    struct object *next; /* in its bucket */
};

/* A name in a folder. NULL stands for nothing. */
struct name {
    struct object *folder;
    char text[JOURNAL_NAME_BYTES];
    struct object *found;  /* on the disk */
    struct object *wanted; /* after the loss */
    uint64_t age;          /* index + 1 of the operation that `wanted` is from; 0: of none */
    bool lost;             /* an operation on it is taken back */
    bool looked_at;        /* by leave_one_name */
    bool dropped;          /* the folder that it would stand for has a newer one */
    int rank;              /* whose that is */
    struct name *next;     /* in its bucket */
};

struct names {
    struct journal_entry *entry;
    uint64_t count;
    const struct ending *ending;
    const struct loss *loss;
    struct object *top;
    struct reach *everything; /* of syncs of the whole file system */
    size_t objects, names, reaches;
    struct object *object; /* these are owned */
    struct name *name;
    struct reach *reach;
    size_t buckets; /* a power of two */
    struct object **object_bucket;
    struct name **name_bucket;
};

/* Borrows `entry`, `ending` (one for each entry) and `loss`. Sets the flags of operations that are
 * taken back now. top: number of the store's own folder. Released with names_release. */
void names_read(struct names *names, struct journal_entry *entry, uint64_t count,
                const struct ending *ending, const struct loss *loss, const struct listed *listed,
                size_t listed_count, uint64_t top);
void names_release(struct names *names);

/* What had this number at entry `at`; the count of entries: what has it now. NULL: nothing that the
 * journal or the listing speaks of. */
struct object *names_object(const struct names *names, uint64_t number, uint64_t at);

/* Whether `name` stands in a folder that is to be in the store, for something else than now. */
bool name_changes(const struct name *name);

/* Whether this rank's work is lost. */
bool power_failure_affects(const struct loss *loss, int rank);

/* The last component of a path below the store. */
const char *names_last(const char *path);

#endif
