/* See xml.h. Escaping is the library's; here is only what no XML can hold, however it is escaped.
 */
#include "reports/text/xml.h"

#include "base/memory.h"
#include "system/printable.h"

#include <inttypes.h>
#include <libxml/xmlwriter.h>
#include <stdlib.h>
#include <string.h>

#define ESCAPE_BYTES 4 /* \xNN, for a byte that XML cannot hold */

/* XML holds no control characters, however they are written, and neither U+FFFE nor U+FFFF. What
 * turns the direction of the text around would make a page show what it does not say. */
static bool is_allowed(const unsigned char *text, size_t bytes)
{
    if (bytes == 1)
        return text[0] >= 0x20 || text[0] == '\t' || text[0] == '\n' || text[0] == '\r';
    if ((bytes == 2 && text[0] == 0xc2 && text[1] < 0xa0) || character_turns(text, bytes))
        return false;
    return bytes != 3 || memcmp(text, "\xef\xbf", 2) != 0 || text[2] < 0xbe;
}

/* With \xNN for each byte of what XML cannot hold; to be freed. */
static char *allowed_text(const char *text)
{
    char *allowed = memory_new(1, ESCAPE_BYTES * strlen(text) + 1);
    size_t used = 0;
    while (*text != '\0') {
        const unsigned char *at = (const unsigned char *)text;
        size_t bytes = character_bytes(at);
        if (bytes > 0 && is_allowed(at, bytes)) {
            memcpy(allowed + used, text, bytes);
            used += bytes;
        } else {
            bytes = bytes > 0 ? bytes : 1;
            for (size_t i = 0; i < bytes; i++)
                used += (size_t)sprintf(allowed + used, "\\x%02x", at[i]);
        }
        text += bytes;
    }
    return allowed;
}

static void check(struct xml *xml, int result)
{
    xml->failed = xml->failed || result < 0;
}

void xml_begin(struct xml *xml, const char *element)
{
    check(xml, xmlTextWriterStartElement(xml->writer, BAD_CAST element));
}

void xml_end(struct xml *xml)
{
    check(xml, xmlTextWriterEndElement(xml->writer));
}

void xml_attribute(struct xml *xml, const char *name, const char *text)
{
    if (text == NULL)
        return;
    char *allowed = allowed_text(text);
    check(xml, xmlTextWriterWriteAttribute(xml->writer, BAD_CAST name, BAD_CAST allowed));
    free(allowed);
}

void xml_number(struct xml *xml, const char *name, int64_t value)
{
    check(xml, xmlTextWriterWriteFormatAttribute(xml->writer, BAD_CAST name, "%" PRId64, value));
}

void xml_real(struct xml *xml, const char *name, double value, int decimals)
{
    check(xml,
          xmlTextWriterWriteFormatAttribute(xml->writer, BAD_CAST name, "%.*f", decimals, value));
}

void xml_flag(struct xml *xml, const char *name, bool value)
{
    xml_attribute(xml, name, value ? "yes" : NULL);
}

void xml_text(struct xml *xml, const char *text)
{
    char *allowed = allowed_text(text);
    check(xml, xmlTextWriterWriteString(xml->writer, BAD_CAST allowed));
    free(allowed);
}

void xml_element(struct xml *xml, const char *name, const char *text)
{
    if (text == NULL)
        return;
    xml_begin(xml, name);
    xml_text(xml, text);
    xml_end(xml);
}
