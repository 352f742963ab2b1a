/* What an oracle found in an example, as the verifier is given it. */
#ifndef TESTS_SHOWN_AGAIN_H
#define TESTS_SHOWN_AGAIN_H

#include "traces/example.h"
#include "verify/witness.h"

/* Without events, and against nothing yet. `references` has room for EXAMPLE_MAX, and stays as long
 * as the witness. */
static inline struct witness empty_witness(const struct example *example,
                                           struct witness_reference *references)
{
    for (size_t i = 0; i < example->facts.reference_count; i++)
        references[i] = (struct witness_reference){
            example->reference[i].rank, example->reference[i].name, example->reference[i].near,
            example->reference[i].bytes, example->reference[i].hash};
    static struct witness_printed printed[EXAMPLE_MAX]; /* of the example that was last looked at */
    size_t printed_count = 0;
    for (size_t i = 0; i < example->facts.printed_count; i++) {
        const struct printed *from = &example->printed[i];
        if (from->state == PRINTED_OTHER)
            printed[printed_count++] =
                (struct witness_printed){from->rank, from->line != 0 ? from->text : NULL,
                                         from->reference_line != 0 ? from->reference_text : NULL};
    }
    return (struct witness){.traces = &example->traces,
                            .finished = example->facts.end == RUN_FINISHED,
                            .reference_count = example->facts.reference_count,
                            .reference = references,
                            .printed_count = printed_count,
                            .printed = printed};
}

static inline struct witness witness_of(const struct example *example,
                                        const struct finding *finding,
                                        struct witness_reference *references)
{
    struct witness witness = empty_witness(example, references);
    witness.claim = finding->claim->id;
    witness.count = finding->witness_count;
    for (unsigned i = 0; i < finding->witness_count; i++)
        witness.event[i] = (struct witness_event){
            finding->witness[i].rank, finding->witness[i].incarnation, finding->witness[i].index};
    return witness;
}

#endif
