/* A shrink or an agreement, as its parts are judged. */
#ifndef ORACLES_ULFM_U_MEET_H
#define ORACLES_ULFM_U_MEET_H

#include "oracles/ulfm/u_family.h"

/* The member's call returned. */
bool u_came_back(const struct u_part *part);
/* ... and it was alive when the last one's did. */
bool u_is_compared(const struct u_run *run, const struct u_meet *meet, const struct u_part *part);

/* The place of a live member that had not come when that one went on; -1: none. */
int u_not_awaited(const struct u_run *run, const struct u_comm *comm, const struct u_meet *meet,
                  const struct u_part *back);
void u_report_not_awaited(struct u_run *run, enum claim_id claim, const struct u_comm *comm,
                          const struct u_meet *meet, const struct u_part *back, int place);

/* It is whole, or nothing more will come. */
void u_judge_shrink(struct u_run *run, struct u_comm *comm, const struct u_meet *meet);
void u_judge_agree(struct u_run *run, struct u_comm *comm, const struct u_meet *meet);

#endif
