// The manifest's text is edited where it stands. libyaml says where every key and value begins and ends; one change
// after the other is spliced in, and the text is read anew before the next one. Items of `tuning` are made, and removed
// when nothing but their region is left.
//
// Marks of libyaml count characters, a text is bytes. What libyaml calls the end of a block lies behind the comments
// that follow it; the end of its last scalar is meant here.
#include "workspace/manifest_edit.h"

#include "base/file.h"
#include "base/input.h"
#include "base/path.h"
#include "base/try.h"
#include "workspace/lock.h"

#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { MAX_MANIFEST = 1 << 20, LINE_LENGTH = 256, MAX_INDENT = 64 };

const char* const jnaTuningKeyNames[JNA_TUNING_KEYS] = {"softness", "damping", "tone", "limit"};

// A text and what libyaml makes of it.
typedef struct Text {
    const char* file;
    jnError* error;
    char* bytes; // owned, ends with a zero
    yaml_document_t document;
    bool parsed;
} Text;

// A stretch of the text, in bytes.
typedef struct Stretch {
    size_t from, to;
} Stretch;

static void Forget(Text* t)
{
    if (t->parsed) {
        yaml_document_delete(&t->document);
    }
    t->parsed = false;
}

static jnResult Parse(Text* t)
{
    yaml_parser_t parser;
    Forget(t);
    if (yaml_parser_initialize(&parser) == 0) {
        return jnFail(t->error, jn_outOfMemory, "%s: out of memory", t->file);
    }
    yaml_parser_set_input_string(&parser, (const unsigned char*)t->bytes, strlen(t->bytes));
    t->parsed = yaml_parser_load(&parser, &t->document) != 0;
    size_t line = parser.problem_mark.line + 1;
    yaml_parser_delete(&parser);
    return t->parsed ? jn_ok : jnFail(t->error, jn_badData, "%s:%zu: is not valid YAML", t->file, line);
}

static size_t PlaceOf(const Text* t, yaml_mark_t mark)
{
    size_t place = 0;
    for (size_t characters = 0; t->bytes[place] != '\0'; ++place) {
        characters += ((unsigned char)t->bytes[place] & 0xC0) != 0x80;
        if (characters > mark.index) {
            break;
        }
    }
    return place;
}

static yaml_node_t* Node(Text* t, int number)
{
    return yaml_document_get_node(&t->document, number);
}

static Stretch StretchOf(const Text* t, const yaml_node_t* node)
{
    return (Stretch){PlaceOf(t, node->start_mark), PlaceOf(t, node->end_mark)};
}

static bool IsFlow(const yaml_node_t* node)
{
    return (node->type == YAML_MAPPING_NODE && node->data.mapping.style == YAML_FLOW_MAPPING_STYLE) ||
           (node->type == YAML_SEQUENCE_NODE && node->data.sequence.style == YAML_FLOW_SEQUENCE_STYLE);
}

// Where a node's last letter ends.
static size_t EndOf(Text* t, const yaml_node_t* node)
{
    if (node->type == YAML_SCALAR_NODE || IsFlow(node)) {
        return PlaceOf(t, node->end_mark);
    }
    size_t end = PlaceOf(t, node->start_mark);
    if (node->type == YAML_SEQUENCE_NODE) {
        const yaml_node_item_t *first = node->data.sequence.items.start, *top = node->data.sequence.items.top;
        return top > first ? EndOf(t, Node(t, top[-1])) : end;
    }
    const yaml_node_pair_t *first = node->data.mapping.pairs.start, *top = node->data.mapping.pairs.top;
    return top > first ? EndOf(t, Node(t, top[-1].value)) : end;
}

static bool IsWord(const yaml_node_t* node, const char* word)
{
    return node->type == YAML_SCALAR_NODE && strcmp((const char*)node->data.scalar.value, word) == 0;
}

// Number of a key in a mapping; -1: it is not there.
static int FindKey(Text* t, const yaml_node_t* mapping, const char* key)
{
    int count = (int)(mapping->data.mapping.pairs.top - mapping->data.mapping.pairs.start);
    for (int i = 0; i < count; ++i) {
        if (IsWord(Node(t, mapping->data.mapping.pairs.start[i].key), key)) {
            return i;
        }
    }
    return -1;
}

static jnResult Splice(Text* t, Stretch where, const char* words)
{
    size_t length = strlen(t->bytes), size = length - (where.to - where.from) + strlen(words);
    char* bytes = malloc(size + 1);
    if (bytes == NULL) {
        return jnFail(t->error, jn_outOfMemory, "%s: out of memory", t->file);
    }
    memcpy(bytes, t->bytes, where.from);
    strcpy(bytes + where.from, words);
    strcat(bytes + where.from, t->bytes + where.to);
    free(t->bytes);
    t->bytes = bytes;
    return jn_ok;
}

static size_t LineStart(const Text* t, size_t at)
{
    while (at > 0 && t->bytes[at - 1] != '\n') {
        --at;
    }
    return at;
}

// Behind the line that a place stands in, or the end of the text.
static size_t NextLine(const Text* t, size_t at)
{
    at += strcspn(t->bytes + at, "\n");
    return at + (t->bytes[at] == '\n');
}

// A line of its own behind the one that `at` stands in.
static jnResult InsertLine(Text* t, size_t at, size_t indent, const char* words)
{
    char line[LINE_LENGTH + MAX_INDENT + 4];
    size_t next = NextLine(t, at);
    bool ended = next > 0 && t->bytes[next - 1] == '\n';
    int spaces = indent < MAX_INDENT ? (int)indent : MAX_INDENT; // deeper than anything that the manifest has
    snprintf(line, sizeof(line), "%s%*s%.*s\n", ended ? "" : "\n", spaces, "", LINE_LENGTH - 1, words);
    return Splice(t, (Stretch){next, next}, line);
}

// Takes a key of a mapping away.
static jnResult RemoveKey(Text* t, const yaml_node_t* mapping, int i)
{
    const yaml_node_pair_t *pairs = mapping->data.mapping.pairs.start, *top = mapping->data.mapping.pairs.top;
    Stretch all = {PlaceOf(t, Node(t, pairs[i].key)->start_mark), EndOf(t, Node(t, pairs[i].value))};
    bool last = pairs + i + 1 == top;
    if (IsFlow(mapping)) {
        all.from = i > 0 ? EndOf(t, Node(t, pairs[i - 1].value)) : all.from;
        all.to = i == 0 && !last ? PlaceOf(t, Node(t, pairs[i + 1].key)->start_mark) : all.to;
    } else if (i == 0 && !last) { // the line of a dash stays
        all.to = PlaceOf(t, Node(t, pairs[i + 1].key)->start_mark);
    } else {
        all = (Stretch){LineStart(t, all.from), NextLine(t, all.to)};
    }
    return Splice(t, all, "");
}

static jnResult ReplaceValue(Text* t, const yaml_node_t* key, const yaml_node_t* value, const char* words)
{
    char padded[LINE_LENGTH];
    Stretch where = {PlaceOf(t, value->start_mark), EndOf(t, value)};
    bool empty = value->type == YAML_SCALAR_NODE && value->data.scalar.length == 0 && where.from == where.to;
    if (empty) { // an empty one has no place of its own: behind the colon
        where.from = where.to = EndOf(t, key) + strcspn(t->bytes + EndOf(t, key), ":") + 1;
    }
    snprintf(padded, sizeof(padded), "%s%s", empty ? " " : "", words);
    return Splice(t, where, padded);
}

static jnResult AddKey(Text* t, const yaml_node_t* mapping, const char* key, const char* words)
{
    char entry[LINE_LENGTH];
    bool any = mapping->data.mapping.pairs.top > mapping->data.mapping.pairs.start;
    if (!IsFlow(mapping)) {
        snprintf(entry, sizeof(entry), "%s: %s", key, words);
        return InsertLine(t, EndOf(t, mapping), mapping->start_mark.column, entry);
    }
    size_t at = any ? EndOf(t, Node(t, mapping->data.mapping.pairs.top[-1].value)) : PlaceOf(t, mapping->end_mark) - 1;
    snprintf(entry, sizeof(entry), "%s%s: %s", any ? ", " : "", key, words);
    return Splice(t, (Stretch){at, at}, entry);
}

// Sets a key of a mapping, or takes it away with "".
static jnResult SetKey(Text* t, const yaml_node_t* mapping, const char* key, const char* words)
{
    int i = FindKey(t, mapping, key);
    if (i < 0) {
        return words[0] != '\0' ? AddKey(t, mapping, key, words) : jn_ok;
    }
    const yaml_node_pair_t* pair = mapping->data.mapping.pairs.start + i;
    return words[0] != '\0' ? ReplaceValue(t, Node(t, pair->key), Node(t, pair->value), words)
                            : RemoveKey(t, mapping, i);
}

// The value of a key of the whole, and the key; false: it is not there.
static bool FindSection(Text* t, const char* section, yaml_node_t** key, yaml_node_t** value)
{
    yaml_node_t* root = yaml_document_get_root_node(&t->document);
    int i = root != NULL && root->type == YAML_MAPPING_NODE ? FindKey(t, root, section) : -1;
    if (i >= 0) {
        *key = Node(t, root->data.mapping.pairs.start[i].key);
        *value = Node(t, root->data.mapping.pairs.start[i].value);
    }
    return i >= 0;
}

static jnResult Append(Text* t, const char* words)
{
    size_t end = strlen(t->bytes);
    bool ended = end == 0 || t->bytes[end - 1] == '\n';
    JN_PASS(ended ? jn_ok : Splice(t, (Stretch){end, end}, "\n"));
    end = strlen(t->bytes);
    return Splice(t, (Stretch){end, end}, words);
}

// SECTION: KEY: words.
static jnResult SetInSection(Text* t, const char* section, const char* name, const char* words)
{
    yaml_node_t *key = NULL, *value = NULL;
    char line[LINE_LENGTH];
    JN_PASS(Parse(t));
    bool there = FindSection(t, section, &key, &value);
    if (there && value->type == YAML_MAPPING_NODE) {
        return SetKey(t, value, name, words);
    }
    if (words[0] == '\0') {
        return jn_ok;
    }
    if (there) {
        snprintf(line, sizeof(line), "%s: %s", name, words);
        return InsertLine(t, EndOf(t, key), 2, line);
    }
    snprintf(line, sizeof(line), "\n%s:\n  %s: %s\n", section, name, words);
    return Append(t, line);
}

// Number of the item whose region has a name; -1: there is none.
static int FindItem(Text* t, const yaml_node_t* list, const char* region)
{
    int count = (int)(list->data.sequence.items.top - list->data.sequence.items.start);
    for (int i = 0; i < count; ++i) {
        yaml_node_t* item = Node(t, list->data.sequence.items.start[i]);
        int at = item->type == YAML_MAPPING_NODE ? FindKey(t, item, "region") : -1;
        if (at >= 0 && IsWord(Node(t, item->data.mapping.pairs.start[at].value), region)) {
            return i;
        }
    }
    return -1;
}

// "tuning: []" becomes a key whose items are lines below it.
static jnResult AddFirstItem(Text* t, const yaml_node_t* key, const yaml_node_t* value, const char* item)
{
    Stretch where = StretchOf(t, value);
    size_t line = EndOf(t, key);
    char words[LINE_LENGTH + 4];
    snprintf(words, sizeof(words), "- %s", item);
    if (value->type == YAML_SEQUENCE_NODE) {
        while (where.from > line && t->bytes[where.from - 1] == ' ') {
            --where.from;
        }
        JN_PASS(Splice(t, where, ""));
    }
    return InsertLine(t, line, 2, words);
}

static jnResult AddItem(Text* t, const yaml_node_t* list, const char* item)
{
    char words[LINE_LENGTH + 4];
    size_t end = EndOf(t, Node(t, list->data.sequence.items.top[-1]));
    if (IsFlow(list)) {
        snprintf(words, sizeof(words), ", %s", item);
        return Splice(t, (Stretch){end, end}, words);
    }
    snprintf(words, sizeof(words), "- %s", item);
    return InsertLine(t, end, list->start_mark.column, words);
}

// Takes an item away, and with the last one the lines of the list.
static jnResult RemoveItem(Text* t, const yaml_node_t* key, const yaml_node_t* list, int i)
{
    const yaml_node_item_t *items = list->data.sequence.items.start, *top = list->data.sequence.items.top;
    yaml_node_t* item = Node(t, items[i]);
    Stretch all = {PlaceOf(t, item->start_mark), EndOf(t, item)};
    bool last = items + i + 1 == top;
    if (IsFlow(list)) {
        all.from = i > 0 ? EndOf(t, Node(t, items[i - 1])) : all.from;
        all.to = i == 0 && !last ? PlaceOf(t, Node(t, items[i + 1])->start_mark) : all.to;
        return Splice(t, all, "");
    }
    size_t colon = EndOf(t, key) + strcspn(t->bytes + EndOf(t, key), ":") + 1;
    bool only = i == 0 && last;
    JN_PASS(Splice(t, (Stretch){LineStart(t, all.from), NextLine(t, all.to)}, ""));
    return only ? Splice(t, (Stretch){colon, colon}, " []") : jn_ok;
}

// An item that says nothing but its region is removed.
static jnResult RemoveIfBare(Text* t, const char* region)
{
    yaml_node_t *key = NULL, *list = NULL;
    JN_PASS(Parse(t));
    int i = FindSection(t, "tuning", &key, &list) && list->type == YAML_SEQUENCE_NODE ? FindItem(t, list, region) : -1;
    if (i < 0) {
        return jn_ok;
    }
    const yaml_node_t* item = Node(t, list->data.sequence.items.start[i]);
    bool bare = item->data.mapping.pairs.top - item->data.mapping.pairs.start == 1;
    return bare ? RemoveItem(t, key, list, i) : jn_ok;
}

static jnResult SetTuning(Text* t, const char* region, const char* name, const char* words)
{
    yaml_node_t *key = NULL, *list = NULL;
    char item[LINE_LENGTH], line[2 * LINE_LENGTH];
    JN_PASS(Parse(t));
    bool there = FindSection(t, "tuning", &key, &list);
    bool any =
        there && list->type == YAML_SEQUENCE_NODE && list->data.sequence.items.top > list->data.sequence.items.start;
    int i = any ? FindItem(t, list, region) : -1;
    if (i >= 0) {
        JN_PASS(SetKey(t, Node(t, list->data.sequence.items.start[i]), name, words));
        return words[0] == '\0' ? RemoveIfBare(t, region) : jn_ok;
    }
    if (words[0] == '\0') {
        return jn_ok;
    }
    snprintf(item, sizeof(item), "{region: %s, %s: %s}", region, name, words);
    if (any) {
        return AddItem(t, list, item);
    }
    if (there) {
        return AddFirstItem(t, key, list, item);
    }
    snprintf(line, sizeof(line), "\ntuning:\n  - %s\n", item);
    return Append(t, line);
}

static jnResult Apply(Text* t, const jnaManifestChange* change)
{
    char quoted[LINE_LENGTH];
    if (change->build != NULL) {
        JN_PASS(SetInSection(t, "body", "build", change->build));
    }
    if (change->mask != NULL) {
        bool on = change->mask[0] != '\0';
        quoted[0] = '\0';
        if (on) {
            snprintf(quoted, sizeof(quoted), "\"%s\"", change->mask);
        }
        JN_PASS(SetInSection(t, "springs", "mode", on ? "mask" : "fitted"));
        JN_PASS(SetInSection(t, "springs", "mask", quoted));
    }
    for (int r = 0; r < JNA_REGIONS; ++r) {
        for (int k = 0; k < JNA_TUNING_KEYS; ++k) {
            if (change->tuning[r][k] != NULL) {
                JN_PASS(SetTuning(t, jnaRegionNames[r], jnaTuningKeyNames[k], change->tuning[r][k]));
            }
        }
    }
    return jn_ok;
}

// A value that could end its place in the text, and so say something else.
static jnResult CheckValue(const char* value, jnError* error)
{
    bool plain = value == NULL || (strlen(value) < 100 && strpbrk(value, ",{}[]#&*!|>'\"%@`:\\\n\r\t") == NULL);
    for (const char* c = value; plain && c != NULL && *c != '\0'; ++c) {
        plain = (unsigned char)*c >= ' ' && (unsigned char)*c < 127;
    }
    return plain ? jn_ok : jnFail(error, jn_badArgument, "'%s' is no value of a manifest's setting", value);
}

static jnResult CheckChange(const jnaManifestChange* change, jnError* error)
{
    JN_PASS(CheckValue(change->build, error));
    JN_PASS(CheckValue(change->mask, error));
    for (int i = 0; i < JNA_REGIONS * JNA_TUNING_KEYS; ++i) {
        JN_PASS(CheckValue(change->tuning[i / JNA_TUNING_KEYS][i % JNA_TUNING_KEYS], error));
    }
    return jn_ok;
}

jnResult jnaEditManifest(
    const char* file, const char* text, const jnaManifestChange* change, char** edited, jnError* error)
{
    jnResult result = jn_ok;
    jnaManifest manifest;
    *edited = NULL;
    JN_PASS(CheckChange(change, error));
    Text t = {.file = file, .error = error, .bytes = strdup(text)};
    JN_TRY(t.bytes != NULL ? jn_ok : jnFail(error, jn_outOfMemory, "%s: out of memory", file));
    JN_TRY(Apply(&t, change));
    JN_TRY(jnaParseManifest(file, t.bytes, strlen(t.bytes), &manifest, error));
    jnaDestroyManifest(&manifest);
    *edited = t.bytes;
    t.bytes = NULL;
done:
    Forget(&t);
    free(t.bytes);
    return result;
}

// "belly.softness"; false: no such region or key.
static bool FindTuningKey(const char* word, size_t length, int* region, int* key)
{
    for (int i = 0; i < JNA_REGIONS * JNA_TUNING_KEYS; ++i) {
        char name[64];
        *region = i / JNA_TUNING_KEYS;
        *key = i % JNA_TUNING_KEYS;
        int size = snprintf(name, sizeof(name), "%s.%s", jnaRegionNames[*region], jnaTuningKeyNames[*key]);
        if ((size_t)size == length && strncmp(name, word, length) == 0) {
            return true;
        }
    }
    return false;
}

jnResult jnaManifestChange_Take(jnaManifestChange* change, const char* word, jnError* error)
{
    const char* equals = strchr(word, '=');
    size_t length = equals != NULL ? (size_t)(equals - word) : 0;
    int region, key;
    if (equals != NULL && length == 5 && strncmp(word, "build", 5) == 0) {
        change->build = equals + 1;
        return jn_ok;
    }
    if (equals != NULL && length == 4 && strncmp(word, "mask", 4) == 0) {
        change->mask = equals + 1;
        return jn_ok;
    }
    if (equals != NULL && FindTuningKey(word, length, &region, &key)) {
        change->tuning[region][key] = equals + 1;
        return jn_ok;
    }
    char regions[300] = "";
    for (int r = 0; r < JNA_REGIONS; ++r) {
        size_t used = strlen(regions);
        snprintf(regions + used, sizeof(regions) - used, "%s%s", r > 0 ? ", " : "", jnaRegionNames[r]);
    }
    return jnFail(error, jn_badArgument,
        "'%.60s' is not REGION.KEY=VALUE, build=VALUE or mask=FILE; keys: softness, damping, tone, limit; regions: %s",
        word, regions);
}

jnResult jnaLoadManifestText(const char* workspace, char** text, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    FILE* file;
    *text = NULL;
    JN_PASS(jnaJoinPath(workspace, "manifest.yaml", path, error));
    JN_PASS(jnaOpenInput(path, &file, error));
    char* bytes = malloc(MAX_MANIFEST + 1);
    size_t size = bytes != NULL ? fread(bytes, 1, MAX_MANIFEST + 1, file) : 0;
    bool failed = ferror(file) != 0;
    fclose(file);
    if (bytes == NULL || failed || size > MAX_MANIFEST) {
        free(bytes);
        return bytes == NULL ? jnFail(error, jn_outOfMemory, "%s: out of memory", path)
                             : jnFail(error, jn_ioFailed, "%s: cannot read, or is larger than 1 MiB", path);
    }
    bytes[size] = '\0';
    if (strlen(bytes) != size) {
        free(bytes);
        return jnFail(error, jn_badData, "%s: has a zero in it", path);
    }
    *text = bytes;
    return jn_ok;
}

static jnResult WriteText(const char* workspace, const char* text, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    JN_PASS(jnaJoinPath(workspace, "manifest.yaml", path, error));
    return jnaWriteBytes(path, text, strlen(text), error);
}

jnResult jnaChangeManifest(
    const char* workspace, const char* who, const jnaManifestChange* change, bool* changed, jnError* error)
{
    char path[JNA_PATH_LENGTH], *text = NULL, *edited = NULL;
    jnaWorkspaceLock lock = {0};
    jnResult result = jn_ok;
    JN_TRY(jnaJoinPath(workspace, "manifest.yaml", path, error));
    JN_TRY(jnaLoadManifestText(workspace, &text, error)); // before the lock, which would make a file in any folder
    free(text);
    text = NULL;
    JN_TRY(jnaLockWorkspace(workspace, who, true, &lock, error));
    JN_TRY(jnaLoadManifestText(workspace, &text, error));
    JN_TRY(jnaEditManifest(path, text, change, &edited, error));
    bool other = strcmp(text, edited) != 0;
    JN_TRY(other ? WriteText(workspace, edited, error) : jn_ok);
    if (changed != NULL) {
        *changed = other;
    }
done:
    jnaUnlockWorkspace(&lock);
    free(text);
    free(edited);
    return result;
}

jnResult jnaRestoreManifestText(const char* workspace, const char* who, const char* text, jnError* error)
{
    jnaWorkspaceLock lock;
    JN_PASS(jnaLockWorkspace(workspace, who, true, &lock, error));
    jnResult result = WriteText(workspace, text, error);
    jnaUnlockWorkspace(&lock);
    return result;
}
