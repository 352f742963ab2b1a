/* XML, written element by element; whatever bytes a text holds, the outcome is well-formed. Errors
 * are kept: once one call has failed the rest is left out, and `failed` says so in the end. Must
 * not know: what is written. */
#ifndef REPORTS_PAGE_XML_H
#define REPORTS_PAGE_XML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Begun by whoever owns the writer (an xmlTextWriter). */
struct xml {
    void *writer;
    bool failed;
};

/* An element within the one that is open; xml_end closes the one begun last. */
void xml_begin(struct xml *xml, const char *element);
void xml_end(struct xml *xml);

/* Of the element begun last, before anything is put into it. NULL: no attribute. Of what XML cannot
 * hold (control characters, bytes that are no UTF-8 [RFC 3629]), and of what turns the direction of
 * the text around [Unicode annex 9], each byte becomes \xNN. */
void xml_attribute(struct xml *xml, const char *name, const char *text);
void xml_number(struct xml *xml, const char *name, int64_t value);
void xml_real(struct xml *xml, const char *name, double value, int decimals);
/* name="yes", or nothing. */
void xml_flag(struct xml *xml, const char *name, bool value);

/* Escaped as in xml_attribute. */
void xml_text(struct xml *xml, const char *text);
/* An element with a text and nothing else; none for NULL. */
void xml_element(struct xml *xml, const char *name, const char *text);

#endif
