/* See stores.h. */
#include "board/stores.h"

#include "board/nodes.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define OF_NODE "node/"
#define LETTERS "abcdefghijklmnopqrstuvwxyz0123456789_"

bool stores_next(const char **stores, struct named_store *store)
{
    const char *text = *stores;
    if (text == NULL || *text == '\0')
        return false;
    store->of_node = strncmp(text, OF_NODE, sizeof OF_NODE - 1) == 0;
    if (store->of_node)
        text += sizeof OF_NODE - 1;
    size_t length = strspn(text, LETTERS);
    if (length == 0 || length >= sizeof store->name ||
        (text[length] != ',' && text[length] != '\0'))
        return false;
    memcpy(store->name, text, length);
    store->name[length] = '\0';
    *stores = text + length + (text[length] == ',');
    return true;
}

bool stores_are_valid(const char *stores)
{
    struct named_store store;
    int count = 0;
    while (stores_next(&stores, &store))
        count++;
    return (stores == NULL || *stores == '\0') && count <= STORES_MOST;
}

void store_place(const struct named_store *store, int node, char place[STORE_PLACE_BYTES])
{
    if (store->of_node)
        snprintf(place, STORE_PLACE_BYTES, NODE_STORE_FORMAT "/%s", node, store->name);
    else
        snprintf(place, STORE_PLACE_BYTES, "%s", store->name);
}

void store_variable(const struct named_store *store, char variable[STORE_PLACE_BYTES])
{
    snprintf(variable, STORE_PLACE_BYTES, STORE_ENVIRONMENT_PREFIX "%s", store->name);
    for (char *at = variable; *at != '\0'; at++)
        *at = (char)toupper((unsigned char)*at);
}
