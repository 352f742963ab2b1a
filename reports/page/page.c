/* See page.h. libxml2 holds the document, libxslt applies the templates; neither may read a file or
 * ask a network for anything. */
#include "reports/page/page.h"

#include "base/memory.h"
#include "base/whole_file.h"
#include "reports/page_parts.h" /* generated: `parts` */
#include "reports/text/words.h"

#include <errno.h>
#include <libxml/parser.h>
#include <libxml/xmlwriter.h>
#include <libxslt/documents.h>
#include <libxslt/security.h>
#include <libxslt/transform.h>
#include <libxslt/xsltutils.h>
#include <string.h>

#define PART_URL "faultline:/"
#define SAID_BYTES 256

static const struct part *part_find(const char *name)
{
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (strcmp(parts[i].name, name) == 0)
            return &parts[i];
    return NULL;
}

/* --- the document ------------------------------------------------------------------------------
 */

void page_begin(struct page *page, const char *root)
{
    xmlDocPtr document = NULL;
    *page = (struct page){0};
    page->xml.writer = xmlNewTextWriterDoc(&document, 0);
    page->document = document;
    if (page->xml.writer == NULL)
        memory_refused();
    page->xml.failed = xmlTextWriterStartDocument(page->xml.writer, NULL, "UTF-8", NULL) < 0;
    xml_begin(&page->xml, root);
}

void page_release(struct page *page)
{
    if (page->xml.writer != NULL)
        xmlFreeTextWriter(page->xml.writer);
    if (page->document != NULL)
        xmlFreeDoc(page->document);
    *page = (struct page){0};
}

static enum error_code finish(struct page *page, struct error *error)
{
    bool failed = page->xml.failed || xmlTextWriterEndDocument(page->xml.writer) < 0;
    xmlFreeTextWriter(page->xml.writer);
    page->xml.writer = NULL;
    return failed ? error_set(error, ERROR_FORMAT, "the page could not be put together") : OK;
}

/* --- the templates -----------------------------------------------------------------------------
 */

/* xsl:include and document() find the parts inside the command, and nothing else. */
static xmlDocPtr load_part(const xmlChar *url, xmlDictPtr dictionary, int options, void *context,
                           xsltLoadType type)
{
    const char *slash = strrchr((const char *)url, '/');
    const struct part *part = part_find(slash != NULL ? slash + 1 : (const char *)url);
    (void)dictionary;
    (void)context;
    (void)type;
    if (part == NULL)
        return NULL;
    return xmlReadMemory(part->text, (int)strlen(part->text), (const char *)url, "UTF-8",
                         options | XML_PARSE_NONET);
}

/* What the library says is kept for the error: the first of it is the reason. */
struct said {
    char text[SAID_BYTES];
};

static void __attribute__((format(printf, 2, 3))) keep_said(void *context, const char *format, ...)
{
    struct said *said = context;
    size_t used = strlen(said->text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(said->text + used, sizeof said->text - used, format, arguments);
    va_end(arguments);
    for (char *at = strchr(said->text, '\n'); at != NULL; at = strchr(at, '\n'))
        *at = ' ';
}

static xsltStylesheetPtr parse_sheet(const char *sheet)
{
    char url[SAID_BYTES];
    snprintf(url, sizeof url, PART_URL "%s", sheet);
    xmlDocPtr document = load_part(BAD_CAST url, NULL, 0, NULL, XSLT_LOAD_START);
    xsltStylesheetPtr parsed = document != NULL ? xsltParseStylesheetDoc(document) : NULL;
    if (parsed == NULL && document != NULL)
        xmlFreeDoc(document);
    return parsed;
}

static xmlDocPtr apply(xsltStylesheetPtr sheet, xmlDocPtr document)
{
    static const xsltSecurityOption forbidden[] = {
        XSLT_SECPREF_READ_FILE, XSLT_SECPREF_WRITE_FILE, XSLT_SECPREF_CREATE_DIRECTORY,
        XSLT_SECPREF_READ_NETWORK, XSLT_SECPREF_WRITE_NETWORK};
    xsltTransformContextPtr context = xsltNewTransformContext(sheet, document);
    xsltSecurityPrefsPtr security = xsltNewSecurityPrefs();
    xmlDocPtr result = NULL;
    if (context != NULL && security != NULL) {
        for (size_t i = 0; i < sizeof forbidden / sizeof forbidden[0]; i++)
            xsltSetSecurityPrefs(security, forbidden[i], xsltSecurityForbid);
        xsltSetCtxtSecurityPrefs(security, context);
        result = xsltApplyStylesheetUser(sheet, document, NULL, NULL, NULL, context);
        if (result != NULL && context->state != XSLT_STATE_OK) {
            xmlFreeDoc(result);
            result = NULL;
        }
    }
    if (context != NULL)
        xsltFreeTransformContext(context);
    if (security != NULL)
        xsltFreeSecurityPrefs(security);
    return result;
}

static enum error_code transform(xmlDocPtr document, const char *sheet, FILE *out,
                                 struct error *error)
{
    struct said said = {""};
    xmlSetGenericErrorFunc(&said, keep_said);
    xsltSetGenericErrorFunc(&said, keep_said);
    xsltSetLoaderFunc(load_part);
    xsltStylesheetPtr parsed = parse_sheet(sheet);
    xmlDocPtr result = parsed != NULL ? apply(parsed, document) : NULL;
    enum error_code code = OK;
    errno = 0;
    if (result == NULL)
        code = error_set(error, ERROR_FORMAT, "template %s: %s", sheet,
                         said.text[0] != '\0' ? said.text : "it cannot be applied");
    else if (xsltSaveResultToFile(out, result, parsed) < 0 || ferror(out))
        code = error_set(error, ERROR_IO, "page: %s", strerror(errno));
    if (result != NULL)
        xmlFreeDoc(result);
    if (parsed != NULL)
        xsltFreeStylesheet(parsed);
    xsltSetLoaderFunc(NULL);
    xsltSetGenericErrorFunc(NULL, NULL);
    xmlSetGenericErrorFunc(NULL, NULL);
    return code;
}

/* A word of the glossary once, whatever forms it has. */
static void put_words(struct xml *xml)
{
    size_t count;
    const struct word *words = words_all(&count);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && strcmp(words[i].id, words[i - 1].id) == 0)
            continue;
        xml_begin(xml, "word");
        xml_attribute(xml, "id", words[i].id);
        xml_attribute(xml, "title", words[i].title);
        xml_text(xml, words[i].meaning);
        xml_end(xml);
    }
}

/* The style, the script and the words go with the document, for the templates to put into the page.
 */
enum error_code page_write(struct page *page, const char *sheet, FILE *out, struct error *error)
{
    const struct part *style = part_find("page.css"), *script = part_find("page.js");
    xml_element(&page->xml, "page-style", style->text);
    xml_element(&page->xml, "page-script", script->text);
    put_words(&page->xml);
    enum error_code code = finish(page, error);
    return code != OK ? code : transform(page->document, sheet, out, error);
}

enum error_code page_write_file(struct page *page, const char *sheet, const char *path,
                                enum whole_name name, struct error *error)
{
    struct whole_file file;
    enum error_code code = whole_file_begin(&file, path, name, error);
    if (code != OK)
        return code;
    code = page_write(page, sheet, file.out, error);
    return whole_file_end(&file, code, error);
}

enum error_code page_write_xml(struct page *page, FILE *out, struct error *error)
{
    enum error_code code = finish(page, error);
    if (code != OK)
        return code;
    errno = 0;
    if (xmlDocFormatDump(out, page->document, 1) < 0 || fflush(out) != 0)
        return error_set(error, ERROR_IO, "page: %s", strerror(errno));
    return OK;
}
