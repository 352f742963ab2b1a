/* See nodes.h. */
#include "board/nodes.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>

int node_of_rank(const char *nodes, int rank)
{
    int node = 0;
    while (isdigit((unsigned char)*nodes)) {
        char *end;
        if (strtol(nodes, &end, 10) == rank)
            return node;
        node += *end == ';';
        nodes = *end != '\0' ? end + 1 : end;
    }
    return -1;
}

int node_count(const char *nodes)
{
    int count = nodes != NULL && *nodes != '\0';
    for (; nodes != NULL && *nodes != '\0'; nodes++)
        count += *nodes == ';';
    return count;
}
