/* Polls in a run that is explored: what a process has asked in vain. See core.h.
 *
 * A poll that is asked for the first time (or the first few times: --polls) is answered at once, by
 * what is there. The same question, asked again by a process that has neither done nor got anything
 * since, waits, in a transition of its own, until something has changed that was looked at by any
 * question since then: the program may be in a loop that asks several things in turn. Which change
 * lets it go on is touched (TOUCH_LET, TOUCH_COULD); what it does before it waits touches nothing,
 * and so commutes with all changes.
 *
 * What is remembered here is changed by the process's own transitions, and read by no other; that
 * something has changed is read only where the poll goes on. So a first question commutes with
 * changes of what other questions look at. */
#include "engine/core/parts.h"

#include <string.h>

#define QUESTION_OF_NOTHING 1 /* an object that nobody changes */

struct looked_at {
    uint64_t object;
    bool is_changed;
};

struct asked {
    struct question {
        uint64_t name;
        unsigned times; /* that it was asked in vain */
    } * question;
    size_t questions, question_room;
    struct looked_at *object;
    size_t objects, object_room;
    bool is_changed; /* any of them */
};

static struct asked *asked_of(struct process *process)
{
    if (process->asked == NULL)
        process->asked = engine_allocate(sizeof *process->asked);
    return process->asked;
}

void asked_forget(struct process *process)
{
    if (process->asked == NULL)
        return;
    process->asked->questions = process->asked->objects = 0;
    process->asked->is_changed = false;
}

static void mark_changed(struct process *process, uint64_t object)
{
    struct asked *asked = process->asked;
    for (size_t i = 0; asked != NULL && i < asked->objects; i++)
        if (asked->object[i].object == object)
            asked->is_changed = asked->object[i].is_changed = true;
    if (asked != NULL && asked->is_changed && process->state == PROCESS_POLLING)
        process->woken = true;
}

static void mark_others(void *data, enum touch how, uint64_t object)
{
    (void)data;
    for (int i = 0; touch_changes(how) && i < engine->processes; i++)
        if ((uint64_t)i != transition_actor())
            mark_changed(&engine->process[i], object);
}

void asked_settle(void)
{
    if (engine->transitions != NULL)
        transition_for_each(mark_others, NULL);
}

/* NULL: it was not asked. */
static struct question *find(const struct asked *asked, uint64_t question)
{
    for (size_t i = 0; i < asked->questions; i++)
        if (asked->question[i].name == question)
            return &asked->question[i];
    return NULL;
}

static void add_object(struct asked *asked, uint64_t object)
{
    for (size_t i = 0; i < asked->objects; i++)
        if (asked->object[i].object == object)
            return;
    asked->object =
        engine_room(asked->object, asked->objects, &asked->object_room, sizeof *asked->object);
    asked->object[asked->objects++] = (struct looked_at){object, false};
}

/* What could change the answer. */
static void take_object(void *data, enum touch how, uint64_t object)
{
    if (how != TOUCH_LET && how != TOUCH_COULD)
        add_object(data, object);
}

/* The answer to the question was no. */
static void remember(struct asked *asked, uint64_t question)
{
    struct question *known = find(asked, question);
    if (known == NULL) {
        asked->question = engine_room(asked->question, asked->questions, &asked->question_room,
                                      sizeof *asked->question);
        known = &asked->question[asked->questions++];
        *known = (struct question){question, 0};
    }
    known->times++;
    transition_for_each(take_object, asked);
    add_object(asked, QUESTION_OF_NOTHING);
}

/* Where several things have changed none of them was needed, so each may be exchanged with this. */
static void touch_what_let_it_go_on(const struct asked *asked)
{
    size_t changed = 0;
    for (size_t i = 0; i < asked->objects; i++)
        changed += asked->object[i].is_changed;
    for (size_t i = 0; i < asked->objects; i++) {
        enum touch how = !asked->object[i].is_changed ? TOUCH_COULD
                         : changed == 1               ? TOUCH_LET
                                                      : TOUCH_LOOK;
        engine_touch(how, asked->object[i].object);
    }
}

/* `is_ready` with nothing changed by others: it comes of what the process did itself. */
static void wait_for_change(struct process *self, bool is_ready)
{
    struct asked *asked = self->asked;
    if (!asked->is_changed && is_ready)
        return;
    hand_over(asked->is_changed ? PROCESS_READY : PROCESS_POLLING);
    self->woken = false;
    transition_polls(true);
    touch_what_let_it_go_on(asked);
    if (asked->is_changed)
        asked_forget(self);
}

bool poll_explored(uint64_t question, engine_ready *ready, void *data)
{
    struct process *self = &engine->process[engine_self];
    struct asked *asked = asked_of(self);
    const struct question *known = find(asked, question);
    if (known != NULL && known->times >= transitions_polls())
        wait_for_change(self, look(ready, data));
    if (ready(data))
        return true;
    remember(asked, question);
    return false;
}
