/* A program drawn at random, with the lines that a protocol takes through it: what each rank does,
 * in one order in which all of it can be done. Some of it may be wrong, on purpose. Must not know:
 * traces, crashes. */
#ifndef TESTS_PLANTED_PROGRAM_H
#define TESTS_PLANTED_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#define RANKS_MOST 8
#define LINES_MOST 64
#define OPS_MOST 200000
#define MESSAGES_MOST 60000
#define CALLS_MOST 20000

enum protocol { PROTOCOL_BLOCKING, PROTOCOL_C3 };

/* What a trace is to look like. */
struct shape {
    enum protocol protocol;
    int ranks;         /* 2 and up */
    int messages;      /* between two lines */
    int collectives;   /* between two lines */
    int wildcards;     /* of a hundred receives */
    int lines;         /* 0 and up */
    int restarts;      /* crashes, each somewhere */
    int communicators; /* duplicates of the world that are used beside it */
    bool storage;      /* the protocol writes, syncs and renames files */
    bool quiet;        /* nothing runs through a line: no late or early messages, no calls */
};

/* What a line may have wrong about it. */
enum line_wrong {
    LINE_RIGHT,
    LINE_CROSSED,     /* blocking: a message runs across */
    LINE_READY_EARLY, /* a rank says that it is ready before its late message has come */
    LINE_FLOWS_BACK,  /* a message from beyond the stop-log line to a rank that still logs */
    LINE_FLOWS_OVER,  /* a late message is delivered beyond the stop-log line */
    LINE_SPANS,       /* a message is sent before it and delivered after the next line */
    LINE_CALL_BACK,   /* data of a collective from beyond to a rank that still logs */
    LINE_CALL_OVER,   /* data of a collective from before the line to one beyond */
    LINE_BARRIER,     /* a barrier straddles it */
    LINE_OVERDUE,     /* every rank passes a potential checkpoint, as many as promised, ahead of its
                         commit */
    LINE_WRONGS
};

enum op_kind {
    OP_SEND,
    OP_RECV,
    OP_CALL, /* the rank's part of a collective */
    OP_DECIDE,
    OP_INITIATE,
    OP_CHECKPOINT,
    OP_READY,
    OP_STOP,
    OP_STORE,
    OP_SAVED,
    OP_COMMIT,
    OP_SETTLES, /* what is promised of lines */
    OP_PASS,    /* a potential checkpoint */
    OP_TELL,    /* a control message, begun and taken: it is of no rank's own program */
};

struct op {
    enum op_kind kind;
    int rank;
    int number; /* of the message or collective; the line */
    int peer;   /* of OP_TELL */
    bool wrong; /* see plant.h: what that means */
};

struct message {
    int from, to, tag, comm;
    uint64_t hash;
    bool any_source, any_tag;
    int line;      /* in whose making it is sent; 0: between lines */
    int sent, got; /* ops */
};

enum call_kind { CALL_OF_ALL, CALL_TO_ROOT, CALL_FROM_ROOT, CALL_AS_BARRIER, CALL_KINDS };

struct call {
    enum call_kind kind;
    int root, comm;
    int first, last; /* ops */
};

struct program {
    struct shape shape;
    enum line_wrong wrong[LINES_MOST + 1]; /* of each line; before it is drawn */
    int count;
    struct op op[OPS_MOST];
    int message_count;
    struct message message[MESSAGES_MOST];
    int call_count;
    struct call call[CALLS_MOST];
    int checkpoint[LINES_MOST + 1][RANKS_MOST]; /* ops */
    int commit[LINES_MOST + 1];                 /* ops */
    int order[RANKS_MOST];                      /* in which ranks take the line */
};

/* Drawn from a seed: the same numbers every time. */
void draw_from(uint64_t seed);
int draw(int below);

/* `shape` and `wrong` are given. Ends the process where the bounds do not do. */
void program_draw(struct program *program);

/* The newest line that the rank of op `op` has taken when it comes to it. */
int program_epoch(const struct program *program, int op);

#endif
