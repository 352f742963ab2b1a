/* See survey_lines.h. */
#include "strategy/survey_lines.h"

#include "base/memory.h"
#include "oracles/reading/lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- triggers
 * ------------------------------------------------------------------------------------- */

void triggers_begin(struct triggers *triggers)
{
    triggers->count = 0;
}

/* Of more than there is room for the newest. */
void triggers_message(struct triggers *triggers, const char *message, int32_t sender, uint64_t nth)
{
    if (triggers->count == TRIGGERS_MAX_HEARD)
        memmove(&triggers->heard[0], &triggers->heard[1],
                --triggers->count * sizeof triggers->heard[0]);
    struct heard *heard = &triggers->heard[triggers->count++];
    snprintf(heard->message, sizeof heard->message, "%s", message);
    heard->sender = sender;
    heard->nth = nth;
}

static void vote_for(struct triggers *triggers, const char *message, enum plan_region region)
{
    for (size_t i = 0; i < triggers->vote_count; i++)
        if (triggers->vote[i].region == region && strcmp(triggers->vote[i].message, message) == 0) {
            triggers->vote[i].votes++;
            return;
        }
    if (triggers->vote_count == sizeof triggers->vote / sizeof triggers->vote[0])
        return;
    struct trigger_vote *vote = &triggers->vote[triggers->vote_count++];
    memmove(vote->message, message, sizeof vote->message);
    vote->region = region;
    vote->votes = 1;
}

void triggers_note(struct triggers *triggers, struct survey *survey, int32_t rank,
                   enum plan_region region, uint64_t line)
{
    for (size_t i = 0; i < triggers->count && survey->triggers < SURVEY_MAX_CUES; i++) {
        const struct heard *heard = &triggers->heard[i];
        struct survey_trigger *trigger = &survey->trigger[survey->triggers++];
        *trigger = (struct survey_trigger){.rank = rank,
                                           .region = region,
                                           .line = (int64_t)line,
                                           .sender = heard->sender,
                                           .nth = heard->nth};
        memcpy(trigger->message, heard->message, sizeof trigger->message);
    }
    if (triggers->count > 0)
        vote_for(triggers, triggers->heard[triggers->count - 1].message, region);
    triggers->count = 0;
}

/* The message that won; NULL: no rank heard anything before it entered this region. */
static const char *winner_of(const struct triggers *triggers, enum plan_region region)
{
    const struct trigger_vote *best = NULL;
    for (size_t i = 0; i < triggers->vote_count; i++)
        if (triggers->vote[i].region == region &&
            (best == NULL || triggers->vote[i].votes > best->votes))
            best = &triggers->vote[i];
    return best != NULL ? best->message : NULL;
}

void triggers_choose(const struct triggers *triggers, struct survey *survey)
{
    size_t kept = 0;
    for (size_t i = 0; i < survey->triggers; i++) {
        const char *winner = winner_of(triggers, survey->trigger[i].region);
        if (winner != NULL && strcmp(survey->trigger[i].message, winner) == 0)
            survey->trigger[kept++] = survey->trigger[i];
    }
    survey->triggers = kept;
}

const struct survey_trigger *survey_trigger(const struct survey *survey, int32_t rank,
                                            enum plan_region region, int64_t line)
{
    for (size_t i = 0; i < survey->triggers; i++) {
        const struct survey_trigger *trigger = &survey->trigger[i];
        if (trigger->rank == rank && trigger->region == region && trigger->line == line)
            return trigger;
    }
    return NULL;
}

/* --- cells ------------------------------------------------------------------------------------ */

static size_t cell_count(const struct survey *survey)
{
    size_t ranks = (size_t)survey->ranks;
    return ranks * ranks * SURVEY_CELL_LINES * SURVEY_REGIONS * SURVEY_REGIONS;
}

static size_t cell_index(const struct survey *survey, struct survey_cell cell)
{
    size_t ranks = (size_t)survey->ranks;
    size_t pair = (size_t)cell.sender * ranks + (size_t)cell.receiver;
    size_t place = pair * SURVEY_CELL_LINES + (size_t)(cell.line - 1);
    place = place * SURVEY_REGIONS + (cell.of_sender - REGION_BEFORE);
    return place * SURVEY_REGIONS + (cell.of_receiver - REGION_BEFORE);
}

static bool is_cell(const struct survey *survey, struct survey_cell cell)
{
    return cell.sender >= 0 && cell.sender < survey->ranks && cell.receiver >= 0 &&
           cell.receiver < survey->ranks && cell.line >= 1 && cell.line <= SURVEY_CELL_LINES &&
           cell.of_sender != REGION_ANY && cell.of_receiver != REGION_ANY;
}

uint32_t survey_sends(const struct survey *survey, struct survey_cell cell)
{
    if (survey->sends == NULL || !is_cell(survey, cell))
        return 0;
    return survey->sends[cell_index(survey, cell)];
}

static enum plan_region region_at(const struct rank_lines *rank, int64_t line, uint64_t ticks)
{
    static const enum plan_region regions[] = {[STANDS_BEFORE] = REGION_BEFORE,
                                               [STANDS_LOGGING] = REGION_LOGGING,
                                               [STANDS_BEYOND] = REGION_BEYOND};
    return regions[lines_standing(rank, (uint64_t)line, ticks)];
}

static void count_send(const struct lines *lines, struct survey *survey, int32_t sender,
                       const struct record *r)
{
    struct survey_cell cell = {.sender = sender, .receiver = r->peer};
    for (cell.line = 1; cell.line <= SURVEY_CELL_LINES && cell.line <= survey->lines; cell.line++) {
        if (r->peer < 0 || r->peer >= lines->ranks || r->peer == sender)
            return;
        cell.of_sender = region_at(&lines->of[sender], cell.line, r->enter);
        cell.of_receiver = region_at(&lines->of[r->peer], cell.line, r->enter);
        survey->sends[cell_index(survey, cell)]++;
    }
}

void cells_count(const struct trace_set *traces, struct survey *survey)
{
    struct lines lines;
    if (survey->lines == 0 || survey->ranks < 1 || survey->ranks > SURVEY_CELL_RANKS)
        return;
    lines_read(traces, 0, &lines);
    survey->sends = memory_new(cell_count(survey), sizeof *survey->sends);
    for (size_t i = 0; i < traces->count; i++) {
        const struct trace *trace = &traces->trace[i];
        for (uint64_t at = 0; trace->incarnation == 0 && at < trace->count; at++) {
            const struct record *r = &trace->record[at];
            if (atomic_load(&r->kind) == RECORD_SEND && r->level == LEVEL_APP)
                count_send(&lines, survey, trace->rank, r);
        }
    }
    lines_release(&lines);
}
