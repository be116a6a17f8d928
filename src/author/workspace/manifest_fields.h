// The one table of manifest fields: reading, writing, ranges, error sentences, the settings of each stage and the
// reference page (docs/reference/manifest.md) all follow from it. A new setting is one row here and one member of a
// struct.
#pragma once

#include "jounce/base.h"

#include <stdio.h>

typedef enum jnaFieldKind {
    jna_fieldSection, // a mapping; its rows follow
    jna_fieldList,    // a list of mappings; the rows of an item follow
    jna_fieldText,    // char*, owned; least and most are its length
    jna_fieldNumber,  // double
    jna_fieldDown,    // double, stored with the other sign
    jna_fieldCount,   // int
    jna_fieldSeed,    // uint64_t
    jna_fieldFlag,    // bool, true or false
    jna_fieldChoice,  // an enum, by name
    jna_fieldCap,     // jnaCap: off, a multiple, or metres
} jnaFieldKind;

enum {
    JNA_FIELD_REQUIRED = 1, // must be there
    JNA_FIELD_OMITTED = 2,  // written only where it is not the default
    JNA_FIELD_UNIQUE = 4,   // no two items of the list have the same
    JNA_MAX_FIELDS = 160,
};

/// One row.
typedef struct jnaField {
    const char* path; // "springs.hertz"; of an item of a list "springs.joints[].hertz"
    jnaFieldKind kind;
    size_t offset; // in jnaManifest, or in an item of its list
    unsigned flags;
    double least, most;       // of a number, of a text's length, of a list's items
    const char* const* names; // of a choice, by value
    int nameCount;
    const char* stages; // those whose outcome it changes, "volume modes"; of a section's rows NULL means as the section
    const char* note;   // unit or a word, written behind the value; may be NULL
    const char* sentence; // of a section or list: the comment above it, lines without "# "; else for the reference page
    // Of a list:
    size_t countOffset, itemSize;
    const void* item; // what an item is before it is read
} jnaField;

extern const jnaField jnaFields[];
extern const int jnaFieldCount;

/// The value of a field as text: "%.10g", a name, "true". base: the manifest or the item. Nothing where it is NULL.
void jnaField_Print(const jnaField* field, const void* base, FILE* file);

/// The list that a row belongs to, NULL for none.
const jnaField* jnaField_List(const jnaField* field);

/// The stages whose outcome a row changes.
const char* jnaField_Stages(const jnaField* field);

/// What stands before the first row of this path: "springs.joints[]" of "springs.joints[].hertz". Its length.
size_t jnaField_ParentLength(const jnaField* field);
