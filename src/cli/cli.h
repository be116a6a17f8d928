// The command line: verbs, options, and how a verb ends.
//
// A verb is one file. It declares its options in a table, parses them with jncParse, does its work through
// the author library and returns an exit code: 0 done, 1 failed with one line on stderr, 2 wrong usage.
#pragma once

#include "base/notes.h"
#include "base/watch.h"
#include "jounce/base.h"

#include <stdbool.h>
#include <stdio.h>

enum { JNC_DONE = 0, JNC_FAILED = 1, JNC_USAGE = 2 };
enum { JNC_MAX_REPEATS = 256 };

/// One verb: its words ("springs run"), a line for the overview, and what runs it.
typedef struct jncVerb {
    const char* name;
    const char* summary;
    int (*run)(int argc, char** argv); // argv[0] is the first word after the verb
} jncVerb;

typedef enum jncKind {
    jnc_flag,
    jnc_text,
    jnc_number,
    jnc_integer,
    jnc_choice, // an index into choices
    jnc_list,   // may be given several times, `arity` words each
} jncKind;

/// Words of an option that may be repeated; words[i * arity + k] is word k of its i-th use.
typedef struct jncList {
    int count;
    const char* words[JNC_MAX_REPEATS * 2];
} jncList;

/// Where an option's value goes; the kind says which member holds. Before parsing it holds the default.
typedef union jncValue {
    bool* flag;
    const char** text;
    double* number;
    long* integer;
    int* choice;
    jncList* list;
} jncValue;

/// One option of a verb. A table of them ends with a zeroed entry.
typedef struct jncOption {
    const char* name; // "--dt", or "WORKSPACE" for a word without dashes
    jncKind kind;
    jncValue value;
    const char* argument; // "SECONDS", shown in the help; NULL for flags
    const char* help;
    const char* choices; // "cubic|linear|step"
    int arity;           // words a use of a list takes, 1 or 2
    bool required;
    bool optional;   // of an integer: the word may be left out; needs `given`
    bool* given;     // set when the option was on the line; may be NULL
    double range[2]; // numbers must lie in it where the second is above the first
} jncOption;

/// The address of a variable of this very type; any other type does not compile, whatever the warnings. A table that
/// took an `int` for a `long` would write beside it.
#define JNC_OF_TYPE(type, variable) _Generic(&(variable), type * : &(variable))

/// Rows of a table of options, one line each: {JNC_NUMBER("--rate", rate, "HZ", 1, 1000, "frames a second"), .given =
/// &g}. The variable holds the default. least and most: 0, 0 for any number.
#define JNC_FLAG(word, variable, says)                                                                                 \
    .name = (word), .kind = jnc_flag, .value.flag = JNC_OF_TYPE(bool, variable), .help = (says)
#define JNC_TEXT(word, variable, what, says)                                                                           \
    .name = (word), .kind = jnc_text, .value.text = JNC_OF_TYPE(const char*, variable), .argument = (what),            \
    .help = (says)
#define JNC_NUMBER(word, variable, what, least, most, says)                                                            \
    .name = (word), .kind = jnc_number, .value.number = JNC_OF_TYPE(double, variable), .argument = (what),             \
    .range = {least, most}, .help = (says)
#define JNC_INTEGER(word, variable, what, least, most, says)                                                           \
    .name = (word), .kind = jnc_integer, .value.integer = JNC_OF_TYPE(long, variable), .argument = (what),             \
    .range = {least, most}, .help = (says)
#define JNC_CHOICE(word, variable, words, says)                                                                        \
    .name = (word), .kind = jnc_choice, .value.choice = JNC_OF_TYPE(int, variable), .choices = (words), .help = (says)
#define JNC_LIST(word, variable, what, says)                                                                           \
    .name = (word), .kind = jnc_list, .value.list = JNC_OF_TYPE(jncList, variable), .argument = (what), .help = (says)

/// A workspace stands for the character file in it: that path, in `buffer`, or the path as it is.
const char* jncCharacterFile(const char* path, char* buffer, size_t size);

/// Fails where `workspace` is a folder without the character file `file` (see jncCharacterFile), and says what makes
/// it.
jnResult jncExpectCharacter(const char* workspace, const char* file, jnError* error);

/// One line of how many points a character has in its source, welded, and split at seams; nothing where the source's
/// number is not known (0).
void jncPrintPoints(long long source, long long welded, long long split);

/// Options that most verbs on a workspace have.
#define JNC_WORKSPACE(variable)                                                                                        \
    {                                                                                                                  \
        JNC_TEXT("WORKSPACE", variable, NULL, "folder of the character"), .required = true                             \
    }
#define JNC_REQUIRE_SANDBOX(variable)                                                                                  \
    {                                                                                                                  \
        JNC_FLAG("--require-sandbox", variable,                                                                        \
            "read no file where the process that reads it cannot be confined (seccomp and Landlock)")                  \
    }
#define JNC_THREADS(variable, text)                                                                                    \
    {                                                                                                                  \
        JNC_INTEGER("--threads", variable, "N", 0, 1024, text)                                                         \
    }

/// What a verb's --help shows around its options.
typedef struct jncUsage {
    const char* synopsis; // "jounce springs run --targets T.npy ... -o X.npy"
    const char* about;    // a few lines, each ended by a newline
    const char* example;  // shown last, each line ended by a newline
} jncUsage;

/// The word that prints a verb's help as Markdown, for docs/reference/command-line.md.
#define JNC_MARKDOWN_HELP "--help=markdown"

/// Parses the words after a verb. Returns -1 to go on, or the exit code to return (help, wrong usage).
int jncParse(int argc, char** argv, const jncUsage* usage, const jncOption* options);

/// Prints "jounce: sentence" on stderr and returns JNC_FAILED.
int jncFail(const jnError* error);

/// The exit code of a verb: JNC_DONE, or jncFail where the result is not jn_ok.
int jncEnd(jnResult result, const jnError* error);

/// The same for wrong usage; returns JNC_USAGE.
int jncMisuse(const char* format, ...) __attribute__((format(printf, 1, 2)));

/// "pca|cnn": what JNC_CHOICE takes, from a table of names.
void jncJoinWords(const char* const* words, int count, char* text, size_t size);

/// What the author library found worth saying, a line each.
void jncPrintNotes(const jnaNotes* notes);

/// Creates a folder unless it is there.
jnResult jncMakeFolder(const char* path, jnError* error);

/// Long jobs: a line on stderr that renews itself while stderr is a terminal, and an end at Ctrl-C.
typedef struct jncProgress {
    const char* what; // "fitting springs"
    double started;   // seconds, by jncBeginProgress, or when the first count was told
    bool counted;     // one was told
    int before;       // solved then
    double shown;     // when the line was last renewed
} jncProgress;
jncProgress jncBeginProgress(const char* what);
/// Shows how far it is and the time left; false once Ctrl-C was pressed. For a jnaWatch; user is the jncProgress.
bool jncShowProgress(const jnaProgress* state, void* user);
/// "1:05", or "2:10:05" from an hour on; returns text.
const char* jncFormatTime(double seconds, char text[24]);
void jncEndProgress(jncProgress* progress);
/// Whether Ctrl-C was pressed since jncBeginProgress; and the clock of progress, in seconds.
bool jncInterrupted(void);

/// From here on files are read by confined processes or not at all, also by the programs that this one starts.
void jncRequireSandbox(bool required);

int jncNew(int argc, char** argv);
int jncBuild(int argc, char** argv);
int jncTetrahedralize(int argc, char** argv);
int jncAnatomy(int argc, char** argv);
int jncModes(int argc, char** argv);
int jncSimulate(int argc, char** argv);
int jncAudit(int argc, char** argv);
int jncAuditContact(const char* workspace, int every, int poses, int threads, bool json);
int jncTrain(int argc, char** argv);
int jncFit(int argc, char** argv);
int jncEvaluate(int argc, char** argv);
int jncReport(int argc, char** argv);
int jncCheck(int argc, char** argv);
int jncSpringsRun(int argc, char** argv);
int jncSpringsFit(int argc, char** argv);
int jncPicture(int argc, char** argv);
int jncDemo(int argc, char** argv);
int jncExport(int argc, char** argv);
int jncInfo(int argc, char** argv);

/// Prints the connected shells of a workspace for jncInfo. Returns the exit code.
int jncInfoShells(const char* workspace, bool json);
int jncBake(int argc, char** argv);
int jncView(int argc, char** argv);
int jncTune(int argc, char** argv);
int jncStudioVerb(int argc, char** argv);
