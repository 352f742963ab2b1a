/* Reductions along trees below the program: at a rank that is not the root the contributions of
 * those below it are put together with its own, and go to its parent. Must not know: multicasts,
 * which letters are new, who has died, when a line is taken. */
#ifndef COMMON_LOGGING_GATHERINGS_H
#define COMMON_LOGGING_GATHERINGS_H

#include "common/logging/logging.h"
#include "common/logging/tree_log.h"

void gatherings_close(void);

/* For layer_carrier. */
void gatherings_contribute(struct packet *packet, const struct layer_combining *how);
void gatherings_reduced(uint64_t comm, uint64_t number);

/* The contribution of a child to a reduction of another root has come for the first time. Takes
 * over the packet. */
void gatherings_add(struct packet *packet);

/* Nobody needs contributions to this reduction from here: it is finished, or what this rank gave
 * to it has been given back to it. */
bool gatherings_are_over(uint64_t comm, int root, uint64_t number);

/* The reductions on head->comm to the root head->about are finished, up to head->number. False:
 * those below this rank are still to be informed, because the communicator is not here yet. */
bool gatherings_finish(const struct packet_head *head);

/* This rank's contribution, which its process of before gave to a reduction of the sender. Takes
 * over the packet. */
void gatherings_give_back(const struct letter *letter, struct packet *packet);

/* Sends a contribution again, to the new process of the parent. The parent gave some of them back
 * to this rank, without determinants. Such a one is written anew, with this rank's step and
 * determinants: the dead process of this rank had sent them to the dead parent, and perhaps to
 * nobody else. */
void gatherings_send_again(struct part *part);

/* Every rank has saved `line`: what is known of lines before it goes. */
void gatherings_drop_before(uint64_t line);

/* At a line: the contributions of those who are beyond it already. */
void gatherings_write(struct bytes *out);
void gatherings_read(struct reader in);

/* Informs the process that has taken the place of rank `to` which reductions are finished. */
void gatherings_send_finished(int to);

#endif
