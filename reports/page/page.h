/* A page for people: an XML document that says what there is, and the templates (reports/page/html)
 * that make one self-contained HTML file of it. The templates, the style and the script are inside
 * the command; nothing is read from disk or from a network. Must not know: runs, campaigns. */
#ifndef REPORTS_PAGE_PAGE_H
#define REPORTS_PAGE_PAGE_H

#include "base/error.h"
#include "base/whole_file.h"
#include "reports/text/xml.h"

#include <stdio.h>

struct page {
    struct xml xml; /* what to write into */
    void *document; /* an xmlDoc; owned */
};

/* The element `root` is open. Owned by the caller: page_release. */
void page_begin(struct page *page, const char *root);
void page_release(struct page *page);

/* Ends the document, and writes what the template file `sheet` ("run.xsl") makes of it. Nothing may
 * be written into the page any more. ERROR_IO; ERROR_FORMAT if the document or the template does
 * not do (a defect of ours). */
enum error_code page_write(struct page *page, const char *sheet, FILE *out, struct error *error);

/* The same into the file `path`: whole or not at all (whole_file.h). */
enum error_code page_write_file(struct page *page, const char *sheet, const char *path,
                                enum whole_name name, struct error *error);

/* The document itself, indented: for tests. As page_write. */
enum error_code page_write_xml(struct page *page, FILE *out, struct error *error);

#endif
