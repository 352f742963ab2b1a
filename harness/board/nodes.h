/* Which rank is on which node, as a scenario's node map has it: "0,1;2,3" are nodes 0 and 1 of two
 * ranks each. libc only: it is part of libfaultline.so. */
#ifndef BOARD_NODES_H
#define BOARD_NODES_H

/* In the environment of the ranks: the map; and what Faultline makes of it for each. */
#define NODES_ENVIRONMENT "FAULTLINE_NODES"
#define NODE_ENVIRONMENT "FAULTLINE_NODE"
#define NODE_STORE_ENVIRONMENT "FAULTLINE_NODE_STORE"

/* The folder of a node's storage, below the checkpoint store: printf of the node's number. */
#define NODE_STORE_FORMAT "node%d"

/* The node of the rank, from 0; -1: the map does not name it. */
int node_of_rank(const char *nodes, int rank);

/* How many there are. nodes may be NULL: none. */
int node_count(const char *nodes);

#endif
