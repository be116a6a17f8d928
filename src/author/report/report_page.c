// The page of a report: its frame and style, text made safe, pictures as data, progress.
//
// One file, no script, nothing loaded. Colours follow the reader's light or dark setting; figures wrap to the width
// there is, down to 400 pixels, and print.
#include "report/report_internal.h"

#include "base/try.h"

#include "runtime/for_author.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char STYLE[] =
    ":root{color-scheme:light dark;--ink:#22272c;--soft:#5c656e;--line:#dde1e5;--paper:#fff;--card:#f5f6f7;"
    "--mark:#fff2cf;--bar:#f08c3a;--bar2:#7aa7cf;--note:#8a5a00}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e4e8eb;--soft:#9ba5ae;--line:#373d44;--paper:#15181b;"
    "--card:#1e2226;--mark:#3b3115;--bar:#d9772b;--bar2:#527a9e;--note:#e0b050}}"
    "*{box-sizing:border-box}"
    "body{margin:0 auto;max-width:1160px;padding:1.2rem 1rem 4rem;background:var(--paper);color:var(--ink);"
    "font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','DejaVu Sans',sans-serif}"
    "h1{font-size:1.9rem;line-height:1.2;margin:.2em 0 .3em;overflow-wrap:anywhere}"
    "h2{font-size:1.35rem;margin:0 0 .5rem}h3{font-size:1.05rem;margin:1.6rem 0 .4rem;overflow-wrap:anywhere}"
    "section{border-top:1px solid var(--line);margin-top:2.2rem;padding-top:1.4rem}"
    "p{max-width:46rem;margin:.5rem 0}a{color:inherit}"
    "nav{display:flex;flex-wrap:wrap;gap:.2rem 1rem;margin:1rem 0;font-size:.92rem}"
    "nav a{color:var(--soft)}"
    "figure{margin:.8rem 0}figcaption{color:var(--soft);font-size:.9rem;max-width:52rem;margin-top:.4rem}"
    ".row{display:grid;gap:.6rem;grid-template-columns:repeat(auto-fit,minmax(var(--least,150px),1fr))}"
    ".row>div{min-width:0}.row small{display:block;color:var(--soft);text-align:center;font-size:.85rem}"
    "img{display:block;width:100%;height:auto;border-radius:6px;background:#e4e4e4}"
    "svg{display:block;width:100%;height:auto}"
    "svg text{fill:var(--soft);font:11px system-ui,'DejaVu Sans',sans-serif}svg .t{fill:var(--ink);font-size:12px}"
    "svg .g{stroke:var(--line);stroke-width:.7;fill:none}svg .f{stroke:var(--soft);stroke-width:.8;fill:none}"
    "svg .s{fill:var(--mark)}svg polyline{fill:none;stroke-width:1.5;stroke-linejoin:round}"
    ".keys{display:flex;flex-wrap:wrap;gap:.1rem 1.1rem;font-size:.88rem;color:var(--soft);margin:.3rem 0}"
    ".keys span{white-space:nowrap}.keys i{display:inline-block;width:1.6em;height:0;vertical-align:middle;"
    "margin-right:.4em;border-top:3px solid}.keys i.d{border-top-style:dashed}"
    ".wide{overflow-x:auto;margin:.6rem 0}"
    "table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}"
    "th,td{padding:.25rem .7rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}"
    "th{font-weight:600;color:var(--soft);vertical-align:bottom}th:first-child,td:first-child,.l{text-align:left}"
    "tr.ships td{background:var(--mark);font-weight:600}"
    ".bar{display:inline-block;width:6rem;height:.7em;background:var(--card);border-radius:3px;margin-left:.5em;"
    "vertical-align:middle;overflow:hidden}.bar b{display:block;height:100%;background:var(--bar2)}"
    ".ships .bar b{background:var(--bar)}"
    ".missing{color:var(--note);border-left:3px solid;padding-left:.7rem}"
    "code,pre{font:.86em/1.45 ui-monospace,'DejaVu Sans Mono',monospace}"
    "pre{background:var(--card);padding:.8rem 1rem;border-radius:6px;overflow-x:auto;max-height:32rem}"
    "summary{cursor:pointer;color:var(--soft)}"
    ".facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:.6rem;margin:1rem 0}"
    ".facts div{background:var(--card);border-radius:6px;padding:.6rem .8rem;overflow-wrap:anywhere}"
    ".facts b{display:block;font-size:1.25rem;line-height:1.25}.facts span{color:var(--soft);font-size:.86rem}"
    ".scale{max-width:26rem;margin:.4rem auto 0}.scale i{display:block;height:.8em;border-radius:3px;"
    "print-color-adjust:exact;-webkit-print-color-adjust:exact}"
    ".scale div{position:relative;height:1.4em;font-size:.82rem;color:var(--soft)}"
    ".scale div span{position:absolute;transform:translateX(-50%);white-space:nowrap}"
    ".scale div .b{transform:none}.scale div .e{transform:translateX(-100%)}"
    "@media(max-width:640px){td:first-child{white-space:normal;min-width:8.5rem}th,td{padding:.25rem .45rem}}"
    "@media print{html{font-size:11px}nav{display:none}section,figure{break-inside:avoid-page}"
    "body{max-width:none;font-size:12px}.bar{width:3rem}th,td{padding:.2rem .4rem}"
    ".row{grid-template-columns:repeat(auto-fit,minmax(calc(var(--least,150px)*.7),1fr))}"
    "pre{max-height:none;white-space:pre-wrap}}";

// Bytes of the UTF-8 sequence that begins here; 0: none does.
static int SequenceLength(const unsigned char* at)
{
    int length = at[0] < 0x80 ? 1 : at[0] >= 0xc2 && at[0] < 0xe0 ? 2 : (at[0] & 0xf0) == 0xe0 ? 3 : 0;
    length = length == 0 && at[0] >= 0xf0 && at[0] < 0xf5 ? 4 : length;
    for (int i = 1; i < length; ++i) {
        if ((at[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    // Longer than need be, halves of pairs, beyond the last: none of these is text.
    bool wrong = (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
                 (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f);
    return length > 1 && wrong ? 0 : length;
}

void jnaReport_Text(FILE* out, const char* text)
{
    for (const unsigned char* at = (const unsigned char*)text; *at != '\0';) {
        int length = SequenceLength(at);
        bool control = *at < 0x20 && *at != '\n' && *at != '\t';
        if (length == 0 || control || *at == 0x7f) {
            fputs("\xef\xbf\xbd", out); // U+FFFD
            at++;
            continue;
        }
        switch (*at) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        case '\'':
            fputs("&#39;", out);
            break;
        default:
            fwrite(at, 1, (size_t)length, out);
            break;
        }
        at += length;
    }
}

void jnaReport_BeginPage(Report* r)
{
    FILE* out = r->out;
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';img-src data:;"
          "style-src 'unsafe-inline'\">\n<title>",
        out);
    jnaReport_Text(out, r->character->name);
    fprintf(out, ": a Jounce report</title>\n<style>%s</style>\n</head>\n<body>\n<header>\n<h1>", STYLE);
    jnaReport_Text(out, r->character->name);
    fputs("</h1>\n", out);
}

void jnaReport_EndPage(Report* r)
{
    fputs("</body>\n</html>\n", r->out);
}

void jnaReport_BeginSection(Report* r, const char* id, const char* title)
{
    fprintf(r->out, "<section id=\"%s\">\n<h2>%s</h2>\n", id, title);
}

void jnaReport_EndSection(Report* r)
{
    fputs("</section>\n", r->out);
}

// A line with the workspace's folder as the word WORKSPACE: where a page was made is nobody's business, and a copy of
// the workspace gives the same bytes.
static void WriteWithoutFolder(const Report* r, const char* line)
{
    size_t length = strlen(r->workspace);
    char rest[JNA_NOTE_LENGTH];
    const char* from = line;
    for (const char* at = line; length > 0 && (at = strstr(at, r->workspace)) != NULL; at += length) {
        bool whole = (at == line || at[-1] == ' ') && strchr(" /:;", at[length]) != NULL; // or the end
        if (whole) {
            snprintf(rest, sizeof(rest), "%.*s", (int)(at - from), from);
            jnaReport_Text(r->out, rest);
            fputs("WORKSPACE", r->out);
            from = at + length;
        }
    }
    jnaReport_Text(r->out, from);
}

void jnaReport_Missing(Report* r, const char* format, ...)
{
    char line[JNA_NOTE_LENGTH];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    fputs("<p class=\"missing\">", r->out);
    WriteWithoutFolder(r, line);
    fputs("</p>\n", r->out);
    jnaNotes_Add(r->notes, "%s", line);
}

static void WriteBase64(FILE* out, const uint8_t* bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        uint32_t three = (uint32_t)bytes[i] << 16 | (i + 1 < size ? (uint32_t)bytes[i + 1] << 8 : 0) |
                         (i + 2 < size ? bytes[i + 2] : 0);
        char four[4] = {digits[three >> 18], digits[three >> 12 & 63], i + 1 < size ? digits[three >> 6 & 63] : '=',
            i + 2 < size ? digits[three & 63] : '='};
        fwrite(four, 1, 4, out);
    }
}

// What follows the size of an image.
static void WriteSource(const Report* r, const uint8_t* bytes, size_t size, const char* alt)
{
    fputs(" alt=\"", r->out);
    jnaReport_Text(r->out, alt);
    fputs("\" src=\"data:image/png;base64,", r->out);
    WriteBase64(r->out, bytes, size);
    fputs("\">", r->out);
}

void jnaReport_Png(Report* r, const uint8_t* bytes, size_t size, const char* alt)
{
    fputs("<img style=\"max-width:100%;height:auto\"", r->out);
    WriteSource(r, bytes, size, alt);
}

jnResult jnaReport_Image(
    Report* r, const jnaPicture* picture, int columns, int rows, int panel, const char* alt, jnError* error)
{
    jnaPicture cut = {.width = picture->width / columns, .height = picture->height / rows};
    size_t row = 4 * (size_t)cut.width;
    cut.pixels = malloc(row * (size_t)cut.height);
    if (cut.pixels == NULL) {
        return jnaReport_OutOfMemory(error);
    }
    size_t left = (size_t)(panel % columns) * row, top = (size_t)(panel / columns) * (size_t)cut.height;
    for (size_t y = 0; y < (size_t)cut.height; ++y) {
        memcpy(cut.pixels + row * y, picture->pixels + 4 * (size_t)picture->width * (top + y) + left, row);
    }
    uint8_t* bytes = NULL;
    size_t size = 0;
    jnResult result = jn_ok;
    JN_TRY(jnaPicture_Encode(&cut, &bytes, &size, error));
    fprintf(r->out, "<img width=\"%d\" height=\"%d\"", cut.width, cut.height);
    WriteSource(r, bytes, size, alt);
done:
    free(bytes);
    free(cut.pixels);
    return result;
}

void jnaReport_Key(FILE* out, uint32_t color, bool dashed, const char* label)
{
    fprintf(out, "<span><i%s style=\"border-color:#%06x\"></i>", dashed ? " class=\"d\"" : "", (unsigned)color);
    jnaReport_Text(out, label);
    fputs("</span>", out);
}

bool jnaReport_Progress(Report* r, double share)
{
    r->share = share;
    return jnaWatch_GoesOn(&r->def->watch, share);
}
