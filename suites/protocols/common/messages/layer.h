/* A message layer for protocols that carry all of the application's messages themselves. Every
 * message becomes a packet on a private communicator, so that all packets of one process to another
 * are one FIFO channel, whatever communicators and tags the program uses; packets of the protocol's
 * own (markers, ready messages) travel in the same channels. Sends, receives, probes, requests and
 * communicators of the program exist in this layer alone: README.md says which.
 *
 * And a state that can be saved at any time, although the program saves itself only at its
 * potential checkpoints: the layer is deterministic but for the packets that come and the program's
 * own choices, so the state at any point is the image taken at the last potential checkpoint and
 * the past since then: the packets, each with the number of the step at which it was taken in.
 * After a restart the program goes on from the image and is given its past again, step by step,
 * while what it sends is dropped; where the past ends it lives on.
 *
 * A protocol that includes this file is linked with this folder and with generated functions that
 * refuse the rest of MPI (generate.lua). It defines MPI_Init, MPI_Init_thread and MPI_Finalize and
 * what checkpoint.h declares; this folder defines the calls of MPI. One thread at a time.
 *
 * Must not know: when a line is taken, what else a line needs. */
#ifndef COMMON_MESSAGES_LAYER_H
#define COMMON_MESSAGES_LAYER_H

#include "common/base/bytes.h"
#include "common/base/state.h"
#include "common/job/job.h"
#include "common/messages/packet.h"
#include "mpi_library.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAYER_LANES_MAX 4

/* One message as it is noted in the trace: the arguments of faultline_recorded and so on. */
struct layer_message {
    uint64_t comm;
    int peer; /* rank in comm */
    int tag;
    const void *data; /* packed */
    size_t bytes;
};

/* How contributions to a reduction become one: by an operation, or (MPI_OP_NULL) one after the
 * other. */
struct layer_combining {
    int count;
    MPI_Datatype type;
    MPI_Op op;
};

/* Of two neighbours, in the order of ranks; takes over a hold of each. The head is for the caller
 * to fill in. */
struct packet *layer_combine(const struct layer_combining *how, struct packet *left,
                             struct packet *right);

/* From here on datatypes and operations that the program frees stay, until each hold is dropped: it
 * may free them while something is still to be combined. */
void layer_hold_handles(void);
void layer_drop_handles(void);

/* How a protocol that logs messages carries the packets of the program itself. */
struct layer_carrier {
    /* Sends a packet, with its number, to another rank; takes over one hold. In the past as well:
     * who has got it already knows it by its number. */
    void (*send)(struct packet *packet, int to);
    /* The next packet that is here, of those of one rank in the order of their numbers; NULL: none.
     * Owned by the caller. Packets of the protocol's own have a kind from PACKET_CONTROL on. */
    struct packet *(*take)(void);
    /* At step `step` a packet is about to be taken in, or (packet == NULL) the program has made a
     * choice. In the past as well. */
    void (*happens)(uint64_t step, const struct packet *packet, const void *choice, size_t bytes);
    /* A message is handed over to the program, inside the call that does so; not one of which a
     * collective call is made. In the past as well. */
    void (*delivers)(const struct packet *packet);
    /* In the past, while this rank follows another process (layer_follow): takes in what that one
     * has told meanwhile, by layer_relive_message, layer_relive_choice, layer_followed and
     * layer_follow_ends. Called again and again; must not wait. NULL: nobody follows. */
    void (*follow)(void);
    /* NULL: collective calls are messages from member to member like others. Else those that are
     * multicasts and reductions go along spanning trees (tree.h), which the protocol looks after;
     * what comes along them does so by `take`, in any order. All of it in the past as well.
     *
     * multicast: to all other members of the packet's communicator; takes over one hold.
     * contribute: what this rank gives to a reduction whose root another one is; what is below it
     * in the tree is to be combined with it, and goes to the root's `take` as its children's; takes
     * over one hold. reduced: this rank, the root, has combined all of it. */
    void (*multicast)(struct packet *packet);
    void (*contribute)(struct packet *packet, const struct layer_combining *how);
    void (*reduced)(uint64_t comm, uint64_t number);
};

struct layer_protocol {
    /* NULL: the packets go through this layer's own channels. Else there are no lanes, no places,
     * no layer_control, layer_save and layer_read, but layer_relive. */
    const struct layer_carrier *carrier;
    /* Private communicators, at most LAYER_LANES_MAX; 0 is taken for 1. Messages of the program and
     * acknowledgements go through lane 0. Between lanes nothing is in order. */
    int lanes;
    /* The collective calls go to the library below this layer, on MPI_COMM_WORLD: what they carry
     * is in no channel, and is not given again after a restart. */
    bool native_collectives;
    /* A packet of the protocol's own has come, in its turn in its channel; `number` and data are as
     * given to layer_control. Never in the past. Called inside whichever call of the program takes
     * packets in. May save, may send. */
    void (*control)(int from, unsigned kind, uint64_t number, const void *data, size_t bytes);
    /* A packet of rank `from` has come and is about to be taken in; it is part of the past from
     * here on. Never in the past. May be NULL. */
    void (*arrives)(int from, struct packet *packet);
    /* A message that layer_record or layer_returned has marked is handed over to the program,
     * inside the call that does so. May be NULL. */
    void (*handed_over)(uint64_t line, const struct layer_message *message);
    /* The past is over: this rank is what it was when it was saved. Once per restart, before
     * anything is taken from the network; before checkpoint_restore returns, or inside a call. */
    void (*lives_on)(void);
    /* The library's group of all ranks of the application, in their order and at all times the same
     * on a process; the caller's. NULL: the ranks are those of the library's MPI_COMM_WORLD. */
    void (*everybody)(MPI_Group *group);
    /* At every step of the present, after what came. May save. May be NULL. */
    void (*step)(void);
};

/* --- beginning and end ------------------------------------------------------------------------ */

/* After PMPI_Init; collective over all processes. The application has `ranks` ranks, of which this
 * process is `rank`, -1 if it is none (in reserve); process[i] is where rank i is, a rank in
 * MPI_COMM_WORLD. `process` is only read; NULL: rank i is process i. *protocol must live on. */
void layer_open(const struct layer_protocol *protocol, int rank, int ranks, const int *process);

/* In MPI_Finalize: takes packets in until every rank has come here and nothing is under way;
 * collective. `settled` is asked before this rank lets the others go: a line under way is to be
 * finished first. NULL: at once. */
void layer_close(bool (*settled)(void));

/* Rank and number of ranks of the application. */
int layer_rank(void);
int layer_ranks(void);

/* --- places ----------------------------------------------------------------------------------- */

/* Where rank `rank` of the application is; what is sent to it from now on goes there. The channels
 * to and from it begin anew: nothing may be under way in them. */
void layer_set_process(int rank, int process);
int layer_process(int rank);

/* What is sent to the rank from now on waits until layer_set_process says where it is. The channels
 * to and from it begin anew here: all that was under way in them has come. */
void layer_suspend(int rank);

/* The private communicator of lane 0, for faultline_address. */
MPI_Comm layer_comm(void);

/* This process becomes rank `rank`, or none (-1); its state is to be read with layer_read. Until
 * then it does again what the rank did before checkpoint_restore: `prologue` is what layer_prologue
 * appended there; NULL for none. */
void layer_become(int rank, const void *prologue, size_t bytes);

/* Appends what came before checkpoint_restore, for the process that becomes this rank. */
void layer_prologue(struct bytes *out);

/* --- packets of the protocol's own ------------------------------------------------------------ */

/* Sends one to rank `to` (not this one) after all that was sent there in that lane. `kind` is
 * PACKET_CONTROL or more, at most PACKET_KIND_MAX, and is the tag on the wire; `number` is the
 * first 8 bytes there. Not in the past. */
void layer_control(int to, int lane, unsigned kind, uint64_t number, const void *data,
                   size_t bytes);

/* Takes packets in until done() says true; a step of the present. Not inside `control`, `arrives`
 * or `step`. */
void layer_wait(bool (*done)(void *context), void *context);

/* One step: takes in what has come. */
void layer_step(void);

/* Within `step`: takes packets in until done() says true; none of the program's calls goes on
 * meanwhile. `step` is not called. */
void layer_flush(bool (*done)(void *context), void *context);

/* Until layer_let_go, what this layer itself would send to others for messages that come (that a
 * synchronous one was matched) waits: a protocol that has said it sends no more before its cut
 * calls layer_keep_back ahead of that, and layer_let_go when all have come to their cut. What waits
 * is part of layer_save, and goes after lives_on. Within `step`. */
void layer_keep_back(void);
void layer_let_go(void);

/* The program is inside a call that sends, and what it sends is not on its way yet. */
bool layer_sending(void);

/* Lets other processes run, before the protocol looks again for something that it waits for. */
void layer_rest(void);

/* --- state ------------------------------------------------------------------------------------ */

/* The pieces that make up the program's state: what checkpoint_register registered. */
struct state *layer_state(void);

/* At checkpoint_restore of a start from nothing, and at every potential checkpoint: this is what
 * the program is now; the past is forgotten. Ends the job if this rank is still in its past. */
void layer_image(void);

/* The program's state at the last layer_image; pieces point to a copy of this layer's. */
const struct state *layer_image_state(void);

/* Where a state comes from elsewhere: layer_image_state's pieces, for the caller to fill in
 * together with the program's. The next layer_read takes them as they are, and copies nothing. */
struct state *layer_image_room(void);

/* Appends what this rank is now, but for layer_image_state. Within `control`, `step`, or between
 * calls of the program. */
void layer_save(struct bytes *out);

/* After layer_state being what layer_image_state was: reads what layer_save appended. Collective
 * over all processes unless `alone`. What this rank has sent and received so far must have come
 * through. On return this rank is in its past, or `lives_on` was called already. */
void layer_read(const void *saved, size_t bytes, bool alone);

/* For a process that is no rank, while the ranks are in layer_read: its part of what is collective.
 */
void layer_read_beside(void);

/* All messages that have been sent to this rank and not been handed over to the program, in the
 * order in which they came: these are to be noted as recorded. */
void layer_for_each_kept(void (*visit)(void *context, const struct layer_message *message),
                         void *context);

/* They are marked as of `line`: see handed_over. At the moment of lives_on. */
void layer_mark_kept(uint64_t line);

/* A packet that was in a channel at the cut comes now, ahead of what the network has. In lives_on,
 * of each channel in order. Owned by this layer. */
void layer_put_back(struct packet *packet, uint64_t line);

/* Describes a message of the program to Faultline; false: it is none (of a collective call, an
 * acknowledgement), or of a communicator that this rank does not have (yet). */
bool layer_describe(const struct packet *packet, struct layer_message *message);
/* The same of one that is sent to rank `to`: `peer` is the rank of that. */
bool layer_describe_sent(const struct packet *packet, int to, struct layer_message *message);

/* With a carrier: a process that takes over a rank. layer_save_image appends what this layer was at
 * the last layer_image; with layer_state being what layer_image_state was, layer_read_image reads
 * it. Then the past is said in order, messages (which are owned by this layer) and choices, each
 * with its step; layer_relive begins it. At later steps than `last` nobody has seen this rank. */
void layer_save_image(struct bytes *out);
void layer_read_image(const void *saved, size_t bytes);
void layer_relive_message(uint64_t step, struct packet *packet);
void layer_relive_choice(uint64_t step, const void *data, size_t bytes);
void layer_relive(uint64_t last);
/* With a carrier that can `follow`: another process is the same rank, and this one repeats what it
 * does, from the beginning or from its image on. Meanwhile this process is in the past. It learns
 * the past piece by piece: from the other process, or, if that one has died, from its messages as
 * they come again. layer_followed: all that comes at polls up to `step` is known.
 * layer_follow_ends: nothing more will be known. Nobody has seen the other process at later steps
 * than `last`, and from there on this one lives on. */
void layer_follow(void);
void layer_followed(uint64_t step);
void layer_follow_ends(uint64_t last);
bool layer_in_past(void);
/* In the past, which has more than the step under way. */
bool layer_past_goes_on(void);
/* In the past, and what comes at the step under way is not all known yet (layer_follow). */
bool layer_past_is_open(void);

/* Number of the step under way, since the image; of the next packet of `from`. */
uint64_t layer_now(void);
uint64_t layer_taken(int from);

/* A choice of the program (checkpoint_decision): kept, or in the past as it was. */
void layer_decision(const char *name, void *data, size_t bytes);

#endif
