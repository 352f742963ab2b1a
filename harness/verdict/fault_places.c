/* See fault_places.h. */
#include "verdict/fault_places.h"

#include "system/json_text.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define FAULTS_MOST 2000 /* of a run: a jitter holds each message */

/* One more, or `place->count` more of one that is there. */
static void fault_places_add(struct fault_places *places, const struct fault_place *place)
{
    for (size_t i = 0; i < places->count; i++) {
        struct fault_place *known = &places->place[i];
        if (strcmp(known->fault, place->fault) == 0 && strcmp(known->role, place->role) == 0 &&
            strcmp(known->phase, place->phase) == 0) {
            known->count += place->count;
            return;
        }
    }
    if (places->count < FAULT_PLACES_MOST)
        places->place[places->count++] = *place;
}

/* --- of a trace ---------------------------------------------------------------------------- */

/* NULL: the record is no fault, but what follows one. */
static const char *fault_word(const struct record *record)
{
    switch (record->comm) {
    case FAULT_KILL:
    case FAULT_KILL_INSIDE:
        return "kill";
    case FAULT_HELD:
        return "hold";
    case FAULT_STOPPED:
        return "stop";
    case FAULT_CHOSEN:
        return "choose";
    case FAULT_ANSWERED:
        return "answer";
    case FAULT_STORAGE:
        return "storage";
    case FAULT_LOST:
        return "lose";
    case FAULT_DETECTED:
        return "detect";
    default:
        return NULL;
    }
}

static bool is_phase(int32_t note)
{
    return note == NOTE_CHECKPOINT || note == NOTE_SAVED || note == NOTE_COMMIT ||
           note == NOTE_RESTORED || note == NOTE_STOP_LOG || note == NOTE_INITIATED ||
           note == NOTE_READY || note == NOTE_PHASE;
}

/* The rank's notes from the newest to the oldest: index + 1 of the next one, 0: no more. */
static uint64_t next_note(const struct trace *trace, uint64_t note)
{
    uint64_t previous = trace->record[note - 1].previous_note;
    return previous < note ? previous : 0;
}

static uint64_t newest_note(const struct trace *trace)
{
    uint64_t note = atomic_load(&trace->header->last_note);
    return note <= trace->count ? note : 0;
}

static void phase_at(const struct trace *trace, uint64_t ticks, char *phase)
{
    snprintf(phase, FAULT_PLACE_BYTES, "start");
    for (uint64_t note = newest_note(trace); note > 0; note = next_note(trace, note)) {
        const struct record *record = &trace->record[note - 1];
        if (record->kind != RECORD_NOTE || record->enter > ticks || !is_phase(record->tag))
            continue;
        if (record->tag == NOTE_PHASE)
            trace_text(trace, note - 1, phase, FAULT_PLACE_BYTES);
        else
            snprintf(phase, FAULT_PLACE_BYTES, "%s", note_kind_text((unsigned)record->tag));
        return;
    }
}

static bool is_initiator(const struct trace_set *traces, int rank)
{
    for (size_t i = 0; i < traces->count; i++) {
        const struct trace *trace = &traces->trace[i];
        for (uint64_t note = newest_note(trace); trace->rank == rank && note > 0;
             note = next_note(trace, note)) {
            int32_t kind = trace->record[note - 1].tag;
            if (kind == NOTE_INITIATED || kind == NOTE_COMMIT)
                return true;
        }
    }
    return false;
}

static void add_fault(const struct trace_set *traces, const struct trace *trace,
                      const struct record *record, struct fault_places *places)
{
    const char *word = fault_word(record);
    struct fault_place place = {.count = 1};
    bool on_other = record->comm == FAULT_KILL || record->comm == FAULT_STOPPED ||
                    record->comm == FAULT_DETECTED;
    int rank = on_other && record->peer >= 0 ? record->peer : trace->rank;
    const struct trace *sufferer = trace_set_find(traces, rank, trace->incarnation);
    if (word == NULL)
        return;
    snprintf(place.fault, sizeof place.fault, "%s", word);
    snprintf(place.role, sizeof place.role, "%s",
             is_initiator(traces, rank) ? "initiator" : "participant");
    snprintf(place.phase, sizeof place.phase, "start");
    if (sufferer != NULL)
        phase_at(sufferer, record->enter, place.phase);
    fault_places_add(places, &place);
}

void fault_places_find(const struct trace_set *traces, const struct judgement *judgement,
                       struct fault_places *places)
{
    for (size_t i = 0; i < judgement->evidence_count && i < FAULTS_MOST; i++) {
        const struct event_ref *event = &judgement->evidence[i].event;
        const struct trace *trace = trace_set_find(traces, event->rank, event->incarnation);
        add_fault(traces, trace, &trace->record[event->index], places);
    }
}

/* --- stored -------------------------------------------------------------------------------- */

json_t *fault_places_pack(const struct fault_places *places)
{
    json_t *array = json_array();
    for (size_t i = 0; i < places->count; i++) {
        const struct fault_place *place = &places->place[i];
        json_array_append_new(
            array, json_pack("{s:s, s:s, s:o, s:I}", "fault", place->fault, "role", place->role,
                             "phase", json_text(place->phase), "count", (json_int_t)place->count));
    }
    return array;
}

static void take(const json_t *object, const char *field, char *text, size_t bytes)
{
    const char *value = json_string_value(json_object_get(object, field));
    snprintf(text, bytes, "%s", value != NULL ? value : "");
}

void fault_places_unpack(const json_t *array, struct fault_places *places)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *object = json_array_get(array, i);
        struct fault_place place = {0};
        take(object, "fault", place.fault, sizeof place.fault);
        take(object, "role", place.role, sizeof place.role);
        take(object, "phase", place.phase, sizeof place.phase);
        place.count = (uint64_t)json_integer_value(json_object_get(object, "count"));
        fault_places_add(places, &place);
    }
}
