// The manifest as a person finds it, what a stage depends on in it, and the page that describes it: all of them go
// through the table of fields.
#include "workspace/manifest.h"

#include "base/file.h"
#include "base/try.h"
#include "workspace/manifest_fields.h"

#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>

// A double-quoted YAML string: nothing in a path or name can end it early.
static void PutText(FILE* file, const char* text)
{
    fputc('"', file);
    for (const unsigned char* c = (const unsigned char*)text; *c != '\0'; ++c) {
        if (*c == '"' || *c == '\\') {
            fprintf(file, "\\%c", *c);
        } else if (*c < ' ' || *c == 127) {
            fprintf(file, "\\x%02x", *c);
        } else {
            fputc(*c, file);
        }
    }
    fputc('"', file);
}

static const char* KeyOf(const jnaField* f)
{
    size_t parent = jnaField_ParentLength(f);
    return f->path + parent + (parent > 0);
}

static int DepthOf(const jnaField* f)
{
    int depth = 0;
    for (const char* c = f->path; *c != '\0'; ++c) {
        depth += *c == '.' ? 1 : *c == '[' ? 1 : 0;
    }
    return depth;
}

static const void* ItemsOf(const jnaManifest* m, const jnaField* list, int* count)
{
    const void* items;
    memcpy(&items, (const char*)m + list->offset, sizeof(items));
    memcpy(count, (const char*)m + list->countOffset, sizeof(*count));
    return items;
}

// Whether a value is left out: a text that is not there, or the default of a row that says so.
static bool IsLeftOut(const jnaField* f, const void* base, const void* standard)
{
    const char *own = (const char*)base + f->offset, *other = (const char*)standard + f->offset;
    if (f->kind == jna_fieldText) {
        return *(char* const*)own == NULL;
    }
    bool whole = f->kind == jna_fieldCount || f->kind == jna_fieldChoice;
    bool flag = f->kind == jna_fieldFlag;
    size_t size = whole ? sizeof(int) : flag ? sizeof(bool) : sizeof(double);
    return (f->flags & JNA_FIELD_OMITTED) != 0 && memcmp(own, other, size) == 0;
}

// One value behind its key; lead: what stands before the key.
static void PutField(FILE* file, const jnaField* f, const void* base, const char* lead)
{
    fprintf(file, "%s%s: ", lead, KeyOf(f));
    if (f->kind == jna_fieldText) {
        PutText(file, *(char* const*)((const char*)base + f->offset));
    } else {
        jnaField_Print(f, base, file);
    }
    fprintf(file, f->note != NULL ? " # %s\n" : "\n", f->note);
}

static void PutItems(FILE* file, const jnaField* list, const jnaManifest* m)
{
    int count;
    const char* items = ItemsOf(m, list, &count);
    int indent = 2 * DepthOf(list) + 2;
    for (int i = 0; i < count; ++i) {
        bool first = true;
        const char* item = items + (size_t)i * list->itemSize;
        for (const jnaField* f = list + 1; f < jnaFields + jnaFieldCount && jnaField_List(f) == list; ++f) {
            char lead[16];
            if (!IsLeftOut(f, item, list->item)) {
                snprintf(lead, sizeof(lead), "%*s%s", indent, "", first ? "- " : "  ");
                PutField(file, f, item, lead);
                first = false;
            }
        }
    }
}

// A section or a list: a comment above it, its key, and the items.
static void PutHead(FILE* file, const jnaField* f, const jnaManifest* m)
{
    if (DepthOf(f) == 0 && f->stages != NULL && strcmp(f->path, "character") != 0) {
        fputc('\n', file);
    }
    for (const char* line = f->sentence; line != NULL;) {
        const char* end = strchr(line, '\n');
        fprintf(file, "# %.*s\n", end != NULL ? (int)(end - line) : (int)strlen(line), line);
        line = end != NULL ? end + 1 : NULL;
    }
    int count = 1;
    if (f->kind == jna_fieldList) {
        (void)ItemsOf(m, f, &count);
    }
    fprintf(file, "%*s%s:%s\n", 2 * DepthOf(f), "", KeyOf(f), count > 0 ? "" : " []");
    if (f->kind == jna_fieldList) {
        PutItems(file, f, m);
    }
}

jnResult jnaWriteManifest(const char* path, const jnaManifest* manifest, jnError* error)
{
    jnaFile output;
    JN_PASS(jnaCreateFile(path, &output, error));
    const jnaManifest standard = jnaDefaultManifest();
    jnaManifest m = *manifest;
    m.poses.count = jnaManifest_PoseCount(manifest);
    FILE* file = output.stream;
    fputs("# A Jounce workspace. Edit this file, then run `jounce build`: it runs the stages whose settings changed.\n",
        file);
    for (int i = 0; i < jnaFieldCount; ++i) {
        const jnaField* f = &jnaFields[i];
        char lead[16];
        if (f->kind == jna_fieldSection || f->kind == jna_fieldList) {
            PutHead(file, f, &m);
        } else if (jnaField_List(f) == NULL && !IsLeftOut(f, &m, &standard)) {
            snprintf(lead, sizeof(lead), "%*s", 2 * DepthOf(f), "");
            PutField(file, f, &m, lead);
        }
    }
    return jnaFile_Commit(&output, error);
}

// Whether a word stands in a list of words.
static bool HasWord(const char* words, const char* word)
{
    size_t length = strlen(word);
    for (const char* at = words; (at = strstr(at, word)) != NULL; at += length) {
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) {
            return true;
        }
    }
    return false;
}

static void PutSetting(FILE* file, const jnaField* f, const void* base)
{
    const double* number = (const double*)((const char*)base + f->offset);
    fprintf(file, "%s ", f->path);
    if (f->kind == jna_fieldNumber || f->kind == jna_fieldDown) {
        fprintf(file, "%.17g", *number);
    } else {
        jnaField_Print(f, base, file);
    }
    fputc('\n', file);
}

char* jnaManifest_Settings(const jnaManifest* m, const char* stage)
{
    char* text = NULL;
    size_t size = 0;
    FILE* file = open_memstream(&text, &size);
    if (file == NULL) {
        return NULL;
    }
    for (int i = 0; i < jnaFieldCount; ++i) {
        const jnaField *f = &jnaFields[i], *list = jnaField_List(f);
        if (f->kind == jna_fieldSection || f->kind == jna_fieldList || !HasWord(jnaField_Stages(f), stage)) {
            continue;
        }
        int count = 1;
        const char* base = list != NULL ? ItemsOf(m, list, &count) : (const void*)m;
        for (int k = 0; k < count; ++k) {
            PutSetting(file, f, base + (list != NULL ? (size_t)k * list->itemSize : 0));
        }
    }
    bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed) {
        free(text);
        return NULL;
    }
    return text;
}

// What a value may be, in words.
static void PutRange(FILE* file, const jnaField* f)
{
    switch (f->kind) {
    case jna_fieldNumber:
    case jna_fieldDown:
        fprintf(file, "number, %g to %g", f->least, f->most);
        break;
    case jna_fieldCount:
    case jna_fieldSeed:
        fprintf(file, "whole number, %g to %g", f->least, f->most);
        break;
    case jna_fieldFlag:
        fputs("`true`, `false`", file);
        break;
    case jna_fieldChoice:
        for (int i = 0; i < f->nameCount; ++i) {
            fprintf(file, "%s`%s`", i > 0 ? ", " : "", f->names[i]);
        }
        break;
    case jna_fieldCap:
        fputs("a multiple, metres, `off`", file);
        break;
    default:
        fputs("text", file);
    }
}

void jnaDescribeManifest(FILE* file)
{
    const jnaManifest standard = jnaDefaultManifest();
    fputs(
        "# The manifest\n\n"
        "`manifest.yaml` in the folder of a character holds every setting. Edit it by hand and run `jounce build`: the "
        "stages whose\nsettings changed run again. A key that is left out has its default. An unknown key or a wrong "
        "value is refused with its line.\n\n"
        "This page is made from the table in `src/author/workspace/manifest_fields.c`; a test compares the two.\n",
        file);
    for (int i = 0; i < jnaFieldCount; ++i) {
        const jnaField *f = &jnaFields[i], *list = jnaField_List(f);
        bool head = f->kind == jna_fieldSection || f->kind == jna_fieldList;
        if (i == 0 || (head && DepthOf(f) == 0)) {
            fprintf(file, "\n## %s\n", head ? f->path : "General");
            fputs("\n| key | values | default | what it is |\n| --- | --- | --- | --- |\n", file);
        }
        if (head) {
            continue;
        }
        fprintf(file, "| `%s` | ", f->path);
        PutRange(file, f);
        const void* base = list != NULL ? list->item : &standard;
        fputs(" | ", file);
        if ((f->flags & JNA_FIELD_REQUIRED) != 0) {
            fputs("required", file);
        } else if (!IsLeftOut(f, base, base)) {
            fputc('`', file);
            jnaField_Print(f, base, file);
            fputc('`', file);
        }
        fprintf(file, " | %s |\n", f->sentence);
    }
}
