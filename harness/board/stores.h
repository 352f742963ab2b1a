/* The stores of a scenario: folders of the checkpoint store that have names, such as a scratch file
 * system and a global one. As text "global,node/ram": one folder for all ranks, and a folder on
 * each node (board/nodes.h). libc only: it is part of libfaultline.so. */
#ifndef BOARD_STORES_H
#define BOARD_STORES_H

#include <stdbool.h>

#define STORES_MOST 16
#define STORE_NAME_BYTES 32  /* of a name, its end included: small letters, digits and _ */
#define STORE_PLACE_BYTES 64 /* of a folder below the checkpoint store, likewise */

/* In the environment of the ranks: the text; and for each store the path of its folder, in a
 * variable that begins so and ends with its name in capitals: FAULTLINE_STORE_GLOBAL. */
#define STORES_ENVIRONMENT "FAULTLINE_STORES"
#define STORE_ENVIRONMENT_PREFIX "FAULTLINE_STORE_"

struct named_store {
    bool of_node; /* each node has its own */
    char name[STORE_NAME_BYTES];
};

/* Takes the next store off *stores, which may be NULL. false: there is none, or the text is not one
 * of stores. */
bool stores_next(const char **stores, struct named_store *store);

/* All of the text names stores, at most STORES_MOST. */
bool stores_are_valid(const char *stores);

/* Its folder below the checkpoint store: "global", or "node1/ram" of node 1. */
void store_place(const struct named_store *store, int node, char place[STORE_PLACE_BYTES]);

/* The variable that says where it is. */
void store_variable(const struct named_store *store, char variable[STORE_PLACE_BYTES]);

#endif
