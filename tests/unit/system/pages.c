/* Memory that is let go of: whole pages, of whatever size this system has. A private mapping of a
 * file shows which: what was written into it is gone where its page was let go of. */
#include "base/pages.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGES 6

static size_t page_bytes;
static char *memory;

/* Lets go from `from` to `to`; true: of the pages `first` to `last - 1` and no others. */
static bool lets_go(size_t from, size_t to, size_t first, size_t last)
{
    memset(memory, 1, PAGES * page_bytes);
    pages_let_go(memory + from, memory + to);
    for (size_t page = 0; page < PAGES; page++) {
        bool gone = page >= first && page < last;
        if (memory[page * page_bytes] != !gone || memory[(page + 1) * page_bytes - 1] != !gone)
            return false;
    }
    return true;
}

int main(void)
{
    FILE *file = tmpfile();
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    if (file == NULL || ftruncate(fileno(file), (off_t)(PAGES * page_bytes)) != 0)
        return 1;
    memory = mmap(NULL, PAGES * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fileno(file), 0);
    if (memory == MAP_FAILED)
        return 1;
    check(lets_go(0, 2 * page_bytes, 0, 2), "pages from the first byte to the last");
    check(lets_go(page_bytes + 64, 3 * page_bytes, 1, 3), "the page of the first byte goes too");
    check(lets_go(page_bytes, 3 * page_bytes + 64, 1, 3), "the page of the end stays");
    check(lets_go(page_bytes + 64, page_bytes + 128, 0, 0), "nothing within one page");
    check(lets_go(3 * page_bytes, page_bytes, 0, 0), "nothing backwards");
    check(pages_begin(0x12345678, 4096) == 0x12345000 &&
              pages_begin(0x12345678, 65536) == 0x12340000,
          "where a page begins depends on its size");
    return done();
}
