/* In which role and phase faults met their ranks (verdict/fault_places.h), life by life. */
#include "verdict/fault_places.h"
#include "tap.h"
#include "traces/example.h"

#include <string.h>

static void expect(const struct fault_places *places, size_t number, const char *phase)
{
    const struct fault_place *place = &places->place[number];
    check(number < places->count && strcmp(place->fault, "kill") == 0 &&
              strcmp(place->role, "initiator") == 0 && strcmp(place->phase, phase) == 0 &&
              place->count == 1,
          "%s of an %s: %s (expected %s)", place->fault, place->role, place->phase, phase);
}

int main(void)
{
    static struct example example;
    static struct fault_places places;
    struct judgement judgement = {0};
    struct error error = {0};
    bool good = example_read("oracles/golden/k_save_near.txt", &example, &error) == OK &&
                judge(&example.traces, &example.facts, example.id, example.id_count, &judgement,
                      &error) == OK;
    if (check(good, "two ranks are killed, one in each of two lives: %s", error.text)) {
        fault_places_find(&example.traces, &judgement, &places);
        check(places.count == 2, "%zu places", places.count);
        expect(&places, 0, "checkpoint");
        expect(&places, 1, "restored");
    }
    judgement_release(&judgement);
    example_release(&example);
    return done();
}
