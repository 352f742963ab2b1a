/* Pages: whatever bytes a trace holds, the page is well-formed, shows them, and obeys none of them;
 * the graph of who waits for whom. */
#include "reports/page/page.h"
#include "inline_trace.h"
#include "reports/diagram/diagram.h"
#include "reports/diagram/waits.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

/* What a program may call a phase; in the text form of traces. */
#define HOSTILE                                                                                    \
    "<script>alert(1)</script> ]]> \\\"'&amp; \\x01\\x1b[31m \\xff\\xc0\\xaf </style></svg>"

static const struct event_ref first = {0, 0, 0};

/* The page of a run, or its document if `sheet` is NULL; to be freed. */
static char *paged(const struct trace_set *set, const char *attribute, const char *sheet)
{
    struct page page;
    struct error error = {0};
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    struct diagram_wish wish = {.id = "f", .set = set, .witness = &first, .witness_count = 1};
    page_begin(&page, "run");
    xml_attribute(&page.xml, "name", attribute);
    waits_write(&page.xml, set);
    enum error_code code = diagram_write(&page.xml, &wish, &error);
    if (code == OK)
        code = sheet != NULL ? page_write(&page, sheet, out, &error)
                             : page_write_xml(&page, out, &error);
    check(code == OK, "%s: %s", sheet != NULL ? sheet : "document",
          code == OK ? "made" : error.text);
    page_release(&page);
    fclose(out);
    return text;
}

static size_t times(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part))
        count++;
    return count;
}

static void test_hostile(void)
{
    struct trace_set set;
    inline_trace(
        "ranks 2\n"
        "r0#0 note phase name \"" HOSTILE "\" at 100\n"
        "r0#0 note result 3 name \"<b>bold</b>\" at 200\n"
        "r1#0 storage create file 1 path \"<img src=x onerror=alert(1)>\" at 100 until 110\n",
        &set);
    char *text = paged(&set, "name \x01\xff\xed\xa0\x80 ]]> \"<i>", "run.xsl");
    check(times(text, "<script>") == 1 && times(text, "</script>") == 1,
          "there is one script, and it is ours");
    check(times(text, "<style>") == 1 && times(text, "</style>") == 1, "and one style");
    check(strstr(text, "<img") == NULL && strstr(text, "<b>bold") == NULL &&
              strstr(text, "<i>") == NULL,
          "nothing that a program says becomes an element");
    check(strstr(text, "&lt;script&gt;alert(1)&lt;/script&gt; ]]&gt;") != NULL, "it is shown");
    check(strstr(text, "name \\x01\\xff\\xed\\xa0\\x80 ]]&gt;") != NULL,
          "what no page can hold is shown as \\xNN");
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++)
        if (*at < ' ' && *at != '\n' && *at != '\t') {
            check(false, "there is a control character: %d", *at);
            break;
        }
    check(strstr(text, "http://www.w3.org/2000/svg") != NULL && strstr(text, "https:") == NULL &&
              times(text, "http:") == times(text, "http://www.w3.org/2000/svg"),
          "no address of a network is in it");
    free(text);
    trace_set_release(&set);
}

/* Rank 0 waits for 1, which waits for 2, which waits for 0; rank 3 has ended. */
static void test_waits(void)
{
    struct trace_set set;
    inline_trace("ranks 4\n"
                 "r0#0 wire recv MPI_Recv from 1 tag 1 at 100 in-progress\n"
                 "r1#0 wire recv MPI_Recv from 2 tag 1 at 110 in-progress\n"
                 "r2#0 wire recv MPI_Recv from 0 tag 1 at 120 in-progress\n"
                 "r3#0 wire call MPI_Finalize at 100 until 200\n",
                 &set);
    char *text = paged(&set, "hang", NULL);
    check(strstr(text, "cycle=\"3\"") != NULL && times(text, "<node ") == 3 &&
              times(text, "<edge ") == 3,
          "a cycle of three: %s", strstr(text, "<waits") != NULL ? "drawn" : "not there");
    check(times(text, "open=\"yes\"") >= 3, "calls without an end are marked");
    free(text);
    text = paged(&set, "hang", "run.xsl");
    check(strstr(text, "rank 0 waits") != NULL && strstr(text, "class=\"cycle\"") != NULL,
          "in words and in the picture");
    free(text);
    trace_set_release(&set);
}

static void test_wrong_sheet(void)
{
    struct page page;
    struct error error = {0};
    page_begin(&page, "run");
    check(page_write(&page, "none.xsl", stdout, &error) == ERROR_FORMAT &&
              strstr(error.text, "none.xsl") != NULL,
          "a template that is not there is an error: %s", error.text);
    page_release(&page);
}

static void test_full(void)
{
    struct trace_set set;
    struct page page;
    struct error error = {0};
    FILE *out = fopen("/dev/full", "we");
    inline_trace("ranks 1\nr0#0 note phase name \"x\" at 100\n", &set);
    if (out == NULL)
        return;
    page_begin(&page, "run");
    check(page_write(&page, "run.xsl", out, &error) == ERROR_IO || fflush(out) != 0,
          "what cannot be written is an error");
    page_release(&page);
    fclose(out);
    trace_set_release(&set);
}

int main(void)
{
    test_hostile();
    test_waits();
    test_wrong_sheet();
    test_full();
    return done();
}
