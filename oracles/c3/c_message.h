/* One message of the application as family C sees it, and how findings speak of it. */
#ifndef ORACLES_C3_C_MESSAGE_H
#define ORACLES_C3_C_MESSAGE_H

#include "oracles/c3/c_family.h"

/* A message both ends of which are of the incarnation judged. */
struct c_message {
    const struct channel *channel;
    const struct sent *sent;
    const struct received *received;
    const struct rank_lines *from, *to;
    const struct trace *trace; /* of the receiver */
    uint64_t sent_epoch, delivered_epoch;
};

#define STAND_TEXT_BYTES 200
/* "before its checkpoint of line 2 (r0#0:e3)": where the rank stands against the line at `ticks`.
 * Returns buffer. */
const char *c_stand_text(const struct rank_lines *rank, uint64_t number, uint64_t ticks,
                         char buffer[STAND_TEXT_BYTES]);

/* The rank's checkpoint of the line and the end of its logging, as far as there are any. */
void c_show_line(struct finding *finding, const struct rank_lines *rank, uint64_t number);

/* A violation that begins with where both ends stand; NULL as of judging_find. */
struct finding *c_message_finding(const struct c_pass *pass, const struct c_message *message,
                                  enum claim_id claim, uint64_t line);

/* Whether the record is of a receive on the note's communicator and with its tag that has failed,
 * for instance because it was too short. The sender is not compared. */
bool c_is_failed_receive(const struct record *record, const struct message_note *note);

/* c_late.c: C.late.log, C.late.ready, of a late message; told: its `logged` note, or NULL. */
void c_judge_late(const struct c_pass *pass, const struct c_message *message,
                  const struct message_note *note);
/* A message of this incarnation that was never delivered in it. */
void c_judge_undelivered(const struct c_pass *pass, const struct channel *channel,
                         const struct sent *sent);

#endif
