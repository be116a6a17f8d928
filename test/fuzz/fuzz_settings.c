// Manifests that are made of their fields: every row of the table in its place, with a value that it may have or one
// that it may not; rows left out, twice, or where they do not belong; lists of items. What is read keeps to the ranges
// of the table, and comes back the same when it is written.
//
// Two bytes a row: what to do with it, and its value.
#include "memory_files.h"
#include "workspace/manifest.h"
#include "workspace/manifest_fields.h"

#include <math.h>
#include <string.h>

enum { MOST_TEXT = 1 << 16, MOST_ITEMS = 3 };

typedef struct Maker {
    const uint8_t* at;
    size_t left;
    char text[MOST_TEXT];
    size_t length;
} Maker;

static uint8_t Byte(Maker* m)
{
    if (m->left == 0) {
        return 0;
    }
    m->left--;
    return *m->at++;
}

__attribute__((format(printf, 2, 3))) static void Put(Maker* m, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(m->text + m->length, MOST_TEXT - m->length, format, arguments);
    va_end(arguments);
    if (length > 0 && m->length + (size_t)length < MOST_TEXT) {
        m->length += (size_t)length;
    }
}

#define ONE_OF(words, byte) (words)[(byte) % (sizeof(words) / sizeof((words)[0]))]

static void PutNumber(Maker* m, const jnaField* field, uint8_t byte)
{
    static const char* const odd[] = {"nan", ".inf", "-1e400", "0x10", "1_000", "1e-320", "''", "[1]", "{a: 1}", "~",
        "1 m", "99999999999999999999", "-0", "0.1.2", "*a", "&a 1"};
    double within[] = {field->least, field->most, 0.5 * (field->least + field->most), 1, 0};
    if (byte >= 240) {
        Put(m, "%s\n", ONE_OF(odd, byte));
    } else if (byte >= 220) {
        Put(m, "%.17g\n", byte % 2 == 0 ? field->most * 2 + 1 : field->least - 1);
    } else {
        double value = ONE_OF(within, byte);
        Put(m, "%.10g\n", field->kind == jna_fieldNumber || field->kind == jna_fieldDown ? value : floor(value));
    }
}

static void PutValue(Maker* m, const jnaField* field, uint8_t byte)
{
    static const char* const texts[] = {"hero.glb", "Bone", "left_thigh", "\"\"", "\"a: b\"", "'it''s'", "\"\\u00e9\"",
        "\"../x\"", "/abs/x.npy", "\"a\\nb\"", "|\n      block", "\"\\0\"", "walk", "true", "1", "\"#\""};
    static const char* const flags[] = {"true", "false", "yes", "True", "1", "\"true\""};
    static const char* const caps[] = {"off", "2", "0.05 m", "-1 m", "0.05m", "1e9 m", "OFF", "0.02 km", "nan"};
    static const char* const seeds[] = {"1", "0", "18446744073709551615", "18446744073709551616", "-1", "1.5"};
    switch (field->kind) {
    case jna_fieldText:
        Put(m, "%s\n", ONE_OF(texts, byte));
        break;
    case jna_fieldFlag:
        Put(m, "%s\n", ONE_OF(flags, byte));
        break;
    case jna_fieldCap:
        Put(m, "%s\n", ONE_OF(caps, byte));
        break;
    case jna_fieldSeed:
        Put(m, "%s\n", ONE_OF(seeds, byte));
        break;
    case jna_fieldChoice:
        Put(m, "%s\n", byte < 240 ? field->names[byte % field->nameCount] : "Other");
        break;
    default:
        PutNumber(m, field, byte);
        break;
    }
}

static int DepthOf(const char* path)
{
    int depth = 0;
    for (; *path != '\0'; ++path) {
        depth += *path == '.';
    }
    return depth;
}

static const char* KeyOf(const char* path)
{
    const char* dot = strrchr(path, '.');
    return dot != NULL ? dot + 1 : path;
}

static bool IsBelow(const jnaField* field, const jnaField* list)
{
    size_t length = strlen(list->path);
    return strncmp(field->path, list->path, length) == 0 && strncmp(field->path + length, "[]", 2) == 0;
}

static void PutRow(Maker* m, const jnaField* field, int indent)
{
    uint8_t what = Byte(m), value = Byte(m);
    bool required = (field->flags & JNA_FIELD_REQUIRED) != 0;
    if (!required && what < 100) {
        return; // left out
    }
    indent += what >= 252 ? 1 : 0;
    for (int times = what == 251 ? 2 : 1; times > 0; --times) {
        Put(m, "%*s%s%s: ", indent, "", what == 250 ? "x" : "", KeyOf(field->path));
        PutValue(m, field, value);
    }
}

// Items of a list; returns the row behind those of an item.
static int PutList(Maker* m, int at)
{
    const jnaField* list = &jnaFields[at];
    int indent = 2 * DepthOf(list->path), end = at + 1, items = Byte(m) % (MOST_ITEMS + 1);
    while (end < jnaFieldCount && IsBelow(&jnaFields[end], list)) {
        end++;
    }
    Put(m, "%*s%s:%s\n", indent, "", KeyOf(list->path), items == 0 ? " []" : "");
    for (int i = 0; i < items; ++i) {
        size_t start = m->length;
        for (int row = at + 1; row < end; ++row) {
            PutRow(m, &jnaFields[row], indent + 4);
        }
        if (m->length == start) {
            Put(m, "%*s- {}\n", indent + 2, "");
        } else {
            m->text[start + (size_t)indent + 2] = '-';
        }
    }
    return end;
}

static void PutManifest(Maker* m)
{
    for (int row = 0; row < jnaFieldCount;) {
        const jnaField* field = &jnaFields[row];
        int indent = 2 * DepthOf(field->path);
        if (field->kind == jna_fieldList) {
            row = PutList(m, row);
            continue;
        }
        if (field->kind == jna_fieldSection) {
            Put(m, "%*s%s:%s\n", indent, "", KeyOf(field->path), Byte(m) >= 254 ? " {}" : "");
        } else if (strcmp(field->path, "version") == 0) {
            Put(m, "version: 1\n");
        } else {
            PutRow(m, field, indent);
        }
        row++;
    }
}

static void MustBeWithin(const jnaField* field, double value)
{
    if (!(value >= field->least && value <= field->most)) {
        fprintf(stderr, "%s: %g was taken, of %g to %g\n", field->path, value, field->least, field->most);
        abort();
    }
}

// untouched: a manifest of which nothing was read; a row that is left out may say so by a value that cannot be written.
static void CheckRow(const jnaField* field, const char* base, const char* untouched)
{
    if (field->kind == jna_fieldNumber &&
        memcmp(base + field->offset, untouched + field->offset, sizeof(double)) != 0) {
        double value;
        memcpy(&value, base + field->offset, sizeof(value));
        MustBeWithin(field, value);
    } else if (field->kind == jna_fieldChoice) {
        int value;
        memcpy(&value, base + field->offset, sizeof(value));
        if (value < 0 || value >= field->nameCount) {
            abort();
        }
    }
}

// The text of what was read, written. The caller copies it.
static const char* Written(const jnaManifest* manifest, const char* path, size_t* size)
{
    jnError error;
    *size = 0;
    return jnaWriteManifest(path, manifest, &error) == jn_ok ? GetFile(path, size) : NULL;
}

static void ReadAndWrite(const char* path)
{
    jnaManifest manifest, again, untouched = jnaDefaultManifest();
    jnError error;
    if (jnaReadManifest(path, &manifest, &error) != jn_ok) {
        return;
    }
    for (int row = 0; row < jnaFieldCount; ++row) {
        if (jnaField_List(&jnaFields[row]) == NULL) {
            CheckRow(&jnaFields[row], (const char*)&manifest, (const char*)&untouched);
        }
    }
    size_t first, second;
    const char* text = Written(&manifest, "first.yaml", &first);
    if (text != NULL) {
        if (jnaReadManifest("first.yaml", &again, &error) != jn_ok) {
            fprintf(stderr, "what was written cannot be read: %s\n%s\n", error.message, text);
            abort();
        }
        const char* other = Written(&again, "second.yaml", &second);
        if (other == NULL || second != first || memcmp(text, other, first) != 0) {
            fprintf(stderr, "written again it is another text\n");
            abort();
        }
        jnaDestroyManifest(&again);
    }
    jnaDestroyManifest(&manifest);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static Maker maker;
    maker.at = data;
    maker.left = size;
    maker.length = 0;
    PutManifest(&maker);
    ReadAndWrite(PutFile("settings.yaml", maker.text, maker.length));
    return 0;
}
