/* The trace record: what a rank did, one cache line each. Shared by the writer (in the rank) and
 * all readers; listed once, here. Must not know: MPI headers.
 *
 * A trace file is one TRACE_HEADER_BYTES header (struct trace_header) followed by records. There is
 * one file per (rank, incarnation). Records are reserved in order; index 0 is the first. The event
 * of a witness `r2#1:e9` is rank 2, incarnation 1, record 9.
 *
 * One call is ONE record: written when the call is entered, completed in place when it returns
 * (`leave` is stored last). A record with leave == 0 belongs to a call that was in progress when
 * the trace ended: neither done nor failed, *unknown*. kind is stored last at entry, so a record
 * with kind == RECORD_NONE below trace_header.next is the one being written when the rank died. */
#ifndef TRACE_RECORD_H
#define TRACE_RECORD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define TRACE_MAGIC "FLTRACE" /* with its terminator: 8 bytes */
#define TRACE_VERSION 1u
#define TRACE_HEADER_BYTES 4096u
#define TRACE_RECORD_BYTES 64u

/* Whose view a record is. */
enum level {
    LEVEL_APP = 0,  /* upper tap: what the application called and got */
    LEVEL_WIRE = 1, /* lower tap: what was asked of the MPI library, control messages included */
    LEVEL_SELF = 2, /* Faultline itself, and what was noted through faultline.h */
};

/* kind, name in text traces. Fields not named in a comment are 0.
 * `peer` and `want_peer` are ranks in MPI_COMM_WORLD (or PEER_*), whatever the communicator. */
#define RECORD_KINDS(X)                                                                            \
    /* a hole: reserved, never written */                                                          \
    X(NONE, "none")                                                                                \
    /* any call that is not one of the following; comm if it has one; of MPIX_Comm_agree the flag  \
     * that went in in `tag`, and the one that came out in `result_hash` */                        \
    X(CALL, "call")                                                                                \
    /* start of a send: comm, peer (destination), tag, bytes, hash; request (0: blocking) */       \
    X(SEND, "send")                                                                                \
    /* a receive is posted: comm, want_peer, want_tag, request (0: blocking, or                    \
     * a matched receive of a message when FLAG_MATCHED: then request is the message's id). A      \
     * blocking one is completed in place: peer, tag, bytes, hash of what arrived */               \
    X(RECV, "recv")                                                                                \
    /* a request is completed (or, with FLAG_NEGATIVE, tested and found not complete, repeated     \
     * `bytes` times): request; if it is a receive also comm, peer, tag, bytes, hash; if it is a   \
     * collective, hash of its result in `hash`. FLAG_CANCELLED; FLAG_FREED: MPI_Request_free */   \
    X(COMPLETE, "complete")                                                                        \
    /* probe: comm, want_peer, want_tag; peer, tag, bytes of what was found; request is the id of  \
     * the message for Mprobe/Improbe; FLAG_NEGATIVE: nothing found, repeated `bytes` times */     \
    X(PROBE, "probe")                                                                              \
    /* a collective: comm, peer (root or PEER_NONE), request (0: blocking), bytes this rank        \
     * contributes, or for a bcast the size of the message; hash of what it contributes (0 if      \
     * nothing), result_hash of what it gets, where the call is done */                            \
    X(COLLECTIVE, "collective")                                                                    \
    /* a communicator was made: comm (its id), bytes = id of its parent, tag = number of members,  \
     * peer = own rank in it, call = how; FLAG_INTER: the next GROUP records list the local group, \
     * the hash is the remote group's size, and its members follow. GROUP records come directly    \
     * after. FLAG_PERSISTENT: its id is that of an identity which a protocol told, and so the     \
     * same in every life. Recorded per level: LEVEL_APP for the application's, LEVEL_WIRE for the \
     * library's */                                                                                \
    X(COMM, "comm")                                                                                \
    /* up to RECORD_GROUP_MEMBERS world ranks, -1 padded; directly after its COMM or FAILED */     \
    X(GROUP, "group")                                                                              \
    /* told through faultline.h: note (enum note_kind in `tag`), value in `bytes`, hash of the     \
     * data in `hash`, `previous_note` = index + 1 of the note before this one in the same file    \
     * (0: none), TEXT records directly after if it has a name */                                  \
    X(NOTE, "note")                                                                                \
    /* Faultline did something to the run: step of the plan in `tag`, enum fault_kind in `comm`,   \
     * victim or peer in `peer`, value in `bytes`. Written before the fault takes effect */        \
    X(FAULT, "fault")                                                                              \
    /* up to RECORD_TEXT_BYTES bytes, 0-padded; belongs to the record before */                    \
    X(TEXT, "text")                                                                                \
    /* a call on a file below the checkpoint store: enum storage_call in `tag`, number of the file \
     * in `request` (0: it has none yet) and of its folder in `comm`, bytes (asked for; once the   \
     * call has returned, done), offset in `result_hash` (STORAGE_NO_OFFSET: where the file        \
     * stands), errno in `error`; TEXT records after: the path below the store. hash: ticks when   \
     * the file system was called (STORAGE_NOT_BEGUN: it never was); calls that take little time   \
     * wait for their turn before, so that until `leave` no other rank was in one of those. With   \
     * FLAG_NEGATIVE: the file was looked for `bytes` times and was not there; result_hash: of the \
     * path */                                                                                     \
    X(STORAGE, "storage")                                                                          \
    /* the process has ended: number of the signal in `tag` (0: none), its exit status in `bytes`  \
     * (0 if it died of a signal). LEVEL_SELF; enter and leave: when that was seen. Written behind \
     * all others, by the parent of the process, once it is gone. Readers keep it apart from what  \
     * the process did (struct trace, `end`) */                                                    \
    X(END, "end")                                                                                  \
    /* processes that the library reports as failed (MPIX_Comm_failure_get_acked,                  \
     * MPIX_Comm_get_failed): comm, tag = how many; GROUP records come directly after */           \
    X(FAILED, "failed")

enum record_kind {
#define X(name, text) RECORD_##name,
    RECORD_KINDS(X)
#undef X
        RECORD_KIND_COUNT
};

enum record_flag {
    FLAG_CANCELLED = 1 << 0,
    FLAG_NO_HASH = 1 << 1,  /* the payload was not hashed (not asked, or not possible) */
    FLAG_NEGATIVE = 1 << 2, /* Test/Iprobe said no */
    FLAG_MATCHED = 1 << 3,  /* receive of a message found by Mprobe/Improbe */
    FLAG_INTER = 1 << 4,    /* on an intercommunicator */
    FLAG_IN_PLACE = 1 << 5, /* MPI_IN_PLACE */
    FLAG_FREED = 1 << 6,    /* MPI_Request_free: completes unseen */
    FLAG_PERSISTENT = 1 << 7,
};

/* Peers that are no world rank. */
enum { PEER_NULL = -1, PEER_ANY = -2, PEER_NONE = -3, PEER_UNKNOWN = -4 };
/* MPI_ANY_TAG as recorded, whatever the library's value is. */
enum { TAG_ANY = -2 };
/* `bytes` of a message that arrived, where the library does not say how long it was (MPICH's
 * MPI_Isendrecv): any length. */
#define BYTES_UNKNOWN UINT64_MAX

/* Ids of the two communicators that exist without being made. 0 is "no communicator". */
enum { COMM_WORLD_ID = 1, COMM_SELF_ID = 2 };

#define NOTE_DRAWN_BYTES 12

/* What faultline.h can note: see notes.def. */
enum note_kind {
    NOTE_NONE,
#define NOTE(NAME, ...) NOTE_##NAME,
#define NOTE_APART NOTE
#include "trace/notes.def"
    NOTE_KIND_COUNT
};

/* What a note speaks of, besides itself. */
enum note_about {
    ABOUT_NOTHING,
    ABOUT_LINE,
    ABOUT_NAME,
    ABOUT_MESSAGE,
    ABOUT_CHANNEL,
    ABOUT_NUMBERED, /* of no event of a plan */
};

/* step of the plan in `tag`; what `peer` and `bytes` say is said here. */
#define FAULT_KINDS(X)                                                                             \
    X(NONE, "none")                                                                                \
    X(AWAITED, "awaited")         /* an await or release step of the plan came true */             \
    X(KILL, "kill")               /* SIGKILL is sent to rank `peer` next */                        \
    X(KILL_INSIDE, "kill-inside") /* this rank is inside a call and waits for the SIGKILL that its \
                                     parent sends */                                               \
    X(HELD, "held")               /* this rank holds a message to `peer`; bytes: index + 1 of its  \
                                     SEND record at the wire level; `request`: its number in the   \
                                     hold, 0: it is only after one that is held */                 \
    X(RELEASED, "released")       /* it is handed to the library now; peer and bytes as above;     \
                                     `request`: enum board_release */                              \
    X(STOPPED, "stopped")         /* SIGSTOP is sent to rank `peer` next */                        \
    X(CONTINUED, "continued")     /* SIGCONT is sent to rank `peer` next; `request` as above */    \
    X(CHOSEN, "chosen")     /* bytes: index + 1 of the RECV or PROBE record at the wire level that \
                               was narrowed to source `peer`; error 255: it could not be */        \
    X(ANSWERED, "answered") /* bytes: index + 1 of the record of the call (or where it will be)    \
                               that was answered so; peer: the answer; error 255: it could not */  \
    X(STORAGE, "storage")   /* a call on the store was made to fail, is short or torn; peer: this  \
                               rank; bytes: as told by the step */                                 \
    X(LOST, "lost")         /* the next death takes along what is not synced; peer: whose */       \
    X(DETECTED, "detected") /* process `peer` may know from now on that process `bytes` is dead */

enum fault_kind {
#define X(name, text) FAULT_##name,
    FAULT_KINDS(X)
#undef X
        FAULT_KIND_COUNT
};

/* A file or folder keeps its number for as long as it exists, under whatever names. */
#define STORAGE_CALLS(X)                                                                           \
    X(NONE, "none")                                                                                \
    X(OPEN, "open")             /* what is there, to read; a folder too */                         \
    X(OPEN_WRITE, "open-write") /* what is there, to write */                                      \
    X(OPEN_EMPTY, "open-empty") /* the same, and it is empty then (O_TRUNC) */                     \
    X(CREATE, "create")         /* a new file (a symbolic link too) gets this name */              \
    X(WRITE, "write")           /* of whatever form */                                             \
    X(WRITE_SYNC, "write-sync") /* the same, durable on return: O_SYNC, O_DSYNC */                 \
    X(RESIZE, "resize")         /* truncate, fallocate; `bytes`: the length */                     \
    X(SYNC, "sync")             /* of a file: its content; of a folder: its names */               \
    X(SYNC_RANGE, "sync-range") /* sync_file_range: promises nothing */                            \
    X(SYNC_ALL, "sync-all")     /* syncfs, sync */                                                 \
    X(RENAME, "rename")         /* the path is the new one */                                      \
    X(LINK, "link")             /* the same */                                                     \
    X(UNLINK, "unlink")         /* rmdir too */                                                    \
    X(MKDIR, "mkdir")                                                                              \
    X(LOOK, "look") /* whether it is there, and what it is: stat, access; a folder is listed */    \
    X(READ, "read") /* of whatever form; of a folder: its names */

enum storage_call {
#define X(name, text) STORAGE_##name,
    STORAGE_CALLS(X)
#undef X
        STORAGE_CALL_COUNT
};

#define STORAGE_NO_OFFSET UINT64_MAX
#define STORAGE_NOT_BEGUN UINT64_MAX

#define RECORD_GROUP_MEMBERS 14
#define RECORD_TEXT_BYTES 56

/* Classes of errors that processes raise in others when they die: these numbers, whatever those of
 * the MPI library are. */
#define RAISED_CLASSES(X)                                                                          \
    X(PROC_FAILED, 248, "proc-failed")                                                             \
    X(PROC_FAILED_PENDING, 249, "proc-failed-pending")                                             \
    X(REVOKED, 250, "revoked")

enum raised {
#define X(name, number, text) RAISED_##name = (number),
    RAISED_CLASSES(X)
#undef X
};

/* error: enum raised, or the MPI library's class of the error of the call; 0 success, 255 for any
 * other class above 247. */
struct record {
    _Atomic uint8_t kind; /* enum record_kind; stored last on entry */
    uint8_t level;        /* enum level */
    uint16_t call;        /* enum call_id of build/gen/calls.h, 0 if none */
    uint8_t flags;        /* enum record_flag */
    uint8_t error;
    uint16_t thread; /* small number per thread, 0 is the one that loaded the library */
    union {
        struct {
            uint64_t enter;         /* ticks, see trace_header; never 0 */
            _Atomic uint64_t leave; /* ticks; 0 while in progress */
            uint32_t comm;          /* id, see COMM */
            int32_t peer;
            int32_t tag;
            uint32_t request; /* number of the request in this (rank, incarnation, level); 0 none */
            uint64_t bytes;
            uint64_t hash; /* XXH3 64 of the packed payload; 0 with FLAG_NO_HASH */
            union {
                struct {
                    int32_t want_peer;
                    int32_t want_tag;
                };
                uint64_t result_hash;
                uint64_t previous_note;
            };
        };
        int32_t members[RECORD_GROUP_MEMBERS];
        char text[RECORD_TEXT_BYTES];
    };
};

_Static_assert(sizeof(struct record) == TRACE_RECORD_BYTES, "a record is one cache line");

/* First page of a trace file. Text fields are 0-terminated, cut if too long. */
struct trace_header {
    char magic[8];
    uint32_t version;      /* TRACE_VERSION */
    uint32_t record_bytes; /* TRACE_RECORD_BYTES */
    int32_t rank;          /* in the first MPI_COMM_WORLD; from `ranks` on: it came later */
    int32_t incarnation;   /* 0 is the first */
    int32_t ranks;         /* size of the first MPI_COMM_WORLD asked for */
    int32_t pid;
    uint64_t start_ticks;
    uint64_t start_unix_ns;
    double ticks_per_second;
    _Atomic uint64_t next;      /* records reserved so far */
    _Atomic uint64_t last_note; /* index + 1 of the newest NOTE, 0: none */
    _Atomic uint32_t closed;    /* 1: MPI_Finalize returned or the process exited in order */
    _Atomic uint32_t lost;      /* records that could not be stored (disk full): the trace lies */
    int32_t world_size;         /* as MPI says, 0 before Init */
    int32_t hash_mode;          /* 0 none, 1 sampled above HASH_SAMPLE_ABOVE_BYTES, 2 full */
    char program[256];
    int32_t helper;             /* 1: the rank belongs to the library under test */
    _Atomic uint32_t libraries; /* bit i: the i-th library that was named has been in the process */
    _Atomic uint64_t taken;     /* calls of MPI from those, which are in no LEVEL_APP record */
    _Atomic uint64_t room;      /* records that the file has had room for; 0: not known. A rank that
                                 * died while its file grew has reserved more */
    int32_t one_clock; /* 1: the times of all ranks are of one clock, as on the step engine */
};

_Static_assert(sizeof(struct trace_header) <= TRACE_HEADER_BYTES, "the header fits its page");

/* What the environment of a process says of the library under test: files that call MPI_X,
 * "libx.so:liby.so", in the order of `libraries`; and ranks that are its own, "0,3". */
#define LIBRARY_ENVIRONMENT "FAULTLINE_LIBRARY"
#define HELPERS_ENVIRONMENT "FAULTLINE_HELPERS"

/* The rank is one of the list. */
bool helpers_have(const char *helpers, int rank);

/* Static strings; "?" for a number outside the list. */
const char *record_kind_text(unsigned kind);
const char *raised_text(unsigned error); /* NULL: none of enum raised */
const char *note_kind_text(unsigned kind);
enum note_about note_about(unsigned kind); /* ABOUT_NOTHING of one that is none */
bool note_is_of_send(unsigned kind);       /* of a message that this rank sends */
bool note_names_peer(unsigned kind); /* in a communicator: it is about a message or a channel */
const char *peer_word(int64_t peer); /* "any", "null", "none", "unknown"; NULL: it is a rank */
const char *fault_kind_text(unsigned kind);
const char *storage_call_text(unsigned call);
const char *level_text(unsigned level); /* "app", "wire", "self" */

#endif
