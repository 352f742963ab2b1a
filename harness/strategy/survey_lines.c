/* See survey_lines.h. */
#include "strategy/survey_lines.h"

#include "base/memory.h"
#include "oracles/reading/lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- cues ------------------------------------------------------------------------------------- */

void cues_begin(struct cues *cues)
{
    cues->count = 0;
}

/* Of more than there is room for the newest. */
void cues_message(struct cues *cues, const char *message, int32_t sender, uint64_t nth)
{
    if (cues->count == CUES_MAX_HEARD)
        memmove(&cues->heard[0], &cues->heard[1], --cues->count * sizeof cues->heard[0]);
    struct heard *heard = &cues->heard[cues->count++];
    snprintf(heard->message, sizeof heard->message, "%s", message);
    heard->sender = sender;
    heard->nth = nth;
}

static void vote_for(struct cues *cues, const char *message, enum plan_region region)
{
    for (size_t i = 0; i < cues->vote_count; i++)
        if (cues->vote[i].region == region && strcmp(cues->vote[i].message, message) == 0) {
            cues->vote[i].votes++;
            return;
        }
    if (cues->vote_count == sizeof cues->vote / sizeof cues->vote[0])
        return;
    struct cue_vote *vote = &cues->vote[cues->vote_count++];
    memmove(vote->message, message, sizeof vote->message);
    vote->region = region;
    vote->votes = 1;
}

void cues_note(struct cues *cues, struct survey *survey, int32_t rank, enum plan_region region,
               uint64_t line)
{
    for (size_t i = 0; i < cues->count && survey->cues < SURVEY_MAX_CUES; i++) {
        const struct heard *heard = &cues->heard[i];
        struct survey_cue *cue = &survey->cue[survey->cues++];
        *cue = (struct survey_cue){.rank = rank,
                                   .region = region,
                                   .line = (int64_t)line,
                                   .sender = heard->sender,
                                   .nth = heard->nth};
        memcpy(cue->message, heard->message, sizeof cue->message);
    }
    if (cues->count > 0)
        vote_for(cues, cues->heard[cues->count - 1].message, region);
    cues->count = 0;
}

/* The message that won; NULL: no rank heard anything before it entered this region. */
static const char *winner_of(const struct cues *cues, enum plan_region region)
{
    const struct cue_vote *best = NULL;
    for (size_t i = 0; i < cues->vote_count; i++)
        if (cues->vote[i].region == region && (best == NULL || cues->vote[i].votes > best->votes))
            best = &cues->vote[i];
    return best != NULL ? best->message : NULL;
}

void cues_choose(const struct cues *cues, struct survey *survey)
{
    size_t kept = 0;
    for (size_t i = 0; i < survey->cues; i++) {
        const char *winner = winner_of(cues, survey->cue[i].region);
        if (winner != NULL && strcmp(survey->cue[i].message, winner) == 0)
            survey->cue[kept++] = survey->cue[i];
    }
    survey->cues = kept;
}

const struct survey_cue *survey_cue(const struct survey *survey, int32_t rank,
                                    enum plan_region region, int64_t line)
{
    for (size_t i = 0; i < survey->cues; i++) {
        const struct survey_cue *cue = &survey->cue[i];
        if (cue->rank == rank && cue->region == region && cue->line == line)
            return cue;
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
    place = place * SURVEY_REGIONS + (cell.of_sender - REGION_BEHIND);
    return place * SURVEY_REGIONS + (cell.of_receiver - REGION_BEHIND);
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
    static const enum plan_region regions[] = {[STANDS_BEHIND] = REGION_BEHIND,
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
