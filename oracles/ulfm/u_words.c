/* What findings of family U say. */
#include "oracles/ulfm/u_family.h"

#include <inttypes.h>
#include <stdio.h>

const char *u_comm_text(uint32_t comm, char buffer[U_COMM_BYTES])
{
    if (comm == COMM_WORLD_ID)
        snprintf(buffer, U_COMM_BYTES, "MPI_COMM_WORLD");
    else
        snprintf(buffer, U_COMM_BYTES, "communicator %#" PRIx32, comm);
    return buffer;
}

void u_say_call(struct finding *finding, struct u_event call, uint32_t comm, const char *what)
{
    char name[U_COMM_BYTES], event[EVENT_TEXT_BYTES];
    finding_say(finding, "process %d %s in %s on %s: %s", call.trace->rank, what,
                call_name(call.record->call), u_comm_text(comm, name),
                event_text(u_ref(call), event));
    finding_show(finding, u_ref(call));
}

void u_say_death(const struct u_run *run, struct finding *finding, int process)
{
    char event[EVENT_TEXT_BYTES];
    const struct u_death *death = &run->death[process];
    if (death->from == U_NEVER) {
        finding_say(finding, "process %d did not die", process);
    } else if (!death->has_event) {
        finding_say(finding, "process %d died, and recorded nothing", process);
    } else {
        finding_say(finding, "process %d died after %s", process, event_text(death->last, event));
        finding_show(finding, death->last);
    }
}
