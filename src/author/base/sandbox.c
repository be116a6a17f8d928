// The sandbox: the list of system calls that a reader of files may make (base/sandbox_calls.h), and Landlock's rules
// for paths.
//
// What is not listed is refused, so that a call that a later kernel brings is refused too. A new C library may want one
// that is not listed: most then do without it. test/author/base/test_sandbox.c tries every number.
#include "base/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef OWN_ARCHITECTURE

enum {
    WRITING = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND,
    MOST_VALUES = 8,     // of an argument that may be one of several
    MAX_FILTER = 1024,   // steps; a rule of them takes 5 + 2 a value
    FIRST_UNKNOWN = 470, // calls from here on are newer than this list
};

typedef enum RuleKind { rule_always, rule_without, rule_with, rule_own, rule_oneOf } RuleKind;

typedef struct Rule {
    int call;
    RuleKind kind;
    uint32_t argument, bits;
    int count;
    uint32_t values[MOST_VALUES]; // [count]
} Rule;

#define COUNT(...) (int)(sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
#define ALWAYS(name) {.call = SYS_##name, .kind = rule_always},
#define WITHOUT(name, at, set) {.call = SYS_##name, .kind = rule_without, .argument = (at), .bits = (set)},
#define WITH(name, at, set) {.call = SYS_##name, .kind = rule_with, .argument = (at), .bits = (set)},
#define OWN(name, at) {.call = SYS_##name, .kind = rule_own, .argument = (at)},
#define ONE_OF(name, at, ...)                                                                                          \
    {.call = SYS_##name, .kind = rule_oneOf, .argument = (at), .count = COUNT(__VA_ARGS__), .values = {__VA_ARGS__}},
static const Rule callRules[] = {
#include "base/sandbox_calls.h"
};
#undef ALWAYS
#undef WITHOUT
#undef WITH
#undef OWN
#undef ONE_OF
enum { RULE_COUNT = sizeof(callRules) / sizeof(callRules[0]) };

// Calls that libc does without where they do not exist. It takes another answer than that for a failure.
static const int missingCalls[] = {SYS_openat2, SYS_clone3, SYS_io_uring_setup, SYS_close_range};
enum { MISSING_COUNT = sizeof(missingCalls) / sizeof(missingCalls[0]) };

#define ARGUMENT(i)                                                                                                    \
    ((uint32_t)offsetof(struct seccomp_data, args) + 8 * (i)) // low half: both machines are little-endian
#define REFUSE(code) (SECCOMP_RET_ERRNO | (code))

typedef struct Filter {
    struct sock_filter steps[MAX_FILTER];
    unsigned short count;
} Filter;

static void Add(Filter* f, uint16_t code, uint32_t value, uint8_t yes, uint8_t no)
{
    f->steps[f->count++] = (struct sock_filter){code, yes, no, value};
}

static void Load(Filter* f, uint32_t offset)
{
    Add(f, BPF_LD | BPF_W | BPF_ABS, offset, 0, 0);
}

static void Return(Filter* f, uint32_t value)
{
    Add(f, BPF_RET | BPF_K, value, 0, 0);
}

static void ReturnWhere(Filter* f, uint32_t equal, uint32_t value)
{
    Add(f, BPF_JMP | BPF_JEQ | BPF_K, equal, 0, 1);
    Return(f, value);
}

// What a call that depends on an argument comes to. After it the number of the call is no longer loaded: each way
// through it ends here.
static void AddCondition(Filter* f, const Rule* rule)
{
    uint32_t bits = rule->bits;
    switch (rule->kind) {
    case rule_always:
        Return(f, SECCOMP_RET_ALLOW);
        return;
    case rule_without:
    case rule_with:
        Load(f, ARGUMENT(rule->argument));
        Add(f, BPF_JMP | BPF_JSET | BPF_K, bits, rule->kind == rule_with ? 0 : 1, rule->kind == rule_with ? 1 : 0);
        Return(f, SECCOMP_RET_ALLOW);
        break;
    case rule_own:
        Load(f, ARGUMENT(rule->argument));
        ReturnWhere(f, (uint32_t)getpid(), SECCOMP_RET_ALLOW);
        if (rule->call == SYS_prlimit64) { // 0: this one
            ReturnWhere(f, 0, SECCOMP_RET_ALLOW);
        }
        break;
    case rule_oneOf:
        Load(f, ARGUMENT(rule->argument));
        for (int i = 0; i < rule->count; ++i) {
            ReturnWhere(f, rule->values[i], SECCOMP_RET_ALLOW);
        }
        break;
    }
    Return(f, REFUSE(EACCES));
}

static bool RefuseCalls(void)
{
    Filter f = {.count = 0};
    Load(&f, offsetof(struct seccomp_data, arch));
    Add(&f, BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCHITECTURE, 1, 0);
    Return(&f, SECCOMP_RET_KILL_PROCESS);
    Load(&f, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < RULE_COUNT; ++i) {
        // The number stays loaded where this is another call.
        Add(&f, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)callRules[i].call, 0, 0);
        unsigned short jump = (unsigned short)(f.count - 1);
        AddCondition(&f, &callRules[i]);
        f.steps[jump].jf = (uint8_t)(f.count - 1 - jump);
    }
    for (int i = 0; i < MISSING_COUNT; ++i) {
        ReturnWhere(&f, (uint32_t)missingCalls[i], REFUSE(ENOSYS));
    }
    // Among them all of the other numbering of x86-64.
    Add(&f, BPF_JMP | BPF_JGE | BPF_K, FIRST_UNKNOWN, 0, 1);
    Return(&f, REFUSE(ENOSYS));
    Return(&f, REFUSE(EPERM));
    struct sock_fprog program = {f.count, f.steps};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

#else
static bool RefuseCalls(void)
{
    return false;
}
#endif

// Landlock as the kernel has it; the headers of the C library may be older.
enum {
    CREATE_RULESET = 444,
    ADD_RULE = 445,
    RESTRICT_SELF = 446,
    ASK_VERSION = 1,
    RULE_PATH = 1,
    READ_FILE = 1 << 2,
    READ_FOLDER = 1 << 3,
    RIGHTS_OF_FILES = (1 << 13) - 1, // version 1; then renaming between folders, truncating, devices
    RIGHT_TCP = 3,                   // version 4: bind and connect
    RIGHT_OTHERS = 3,                // version 6: abstract sockets and signals of others
};

typedef struct Rights {
    uint64_t files, network, others;
} Rights;

typedef struct __attribute__((packed)) PathRule {
    uint64_t allowed;
    int32_t parent;
} PathRule;

static bool Allow(int rules, const char* path, uint64_t rights)
{
    PathRule rule = {rights, open(path, O_PATH | O_CLOEXEC)};
    if (rule.parent < 0) {
        return false;
    }
    bool added = syscall(ADD_RULE, rules, RULE_PATH, &rule, 0) == 0;
    close(rule.parent);
    return added;
}

static bool RefuseFiles(const char* file)
{
    long version = syscall(CREATE_RULESET, NULL, 0, ASK_VERSION);
    if (version < 1) {
        return false;
    }
    Rights rights = {.files = RIGHTS_OF_FILES};
    rights.files |= version >= 2 ? 1 << 13 : 0;
    rights.files |= version >= 3 ? 1 << 14 : 0;
    rights.files |= version >= 5 ? 1 << 15 : 0;
    rights.network = version >= 4 ? RIGHT_TCP : 0;
    rights.others = version >= 6 ? RIGHT_OTHERS : 0;
    size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
    char folder[PATH_MAX];
    strncpy(folder, file, sizeof(folder) - 1);
    folder[sizeof(folder) - 1] = '\0';
    int rules = (int)syscall(CREATE_RULESET, &rights, size, 0);
    bool good = rules >= 0 && Allow(rules, file, READ_FILE) && Allow(rules, dirname(folder), READ_FILE | READ_FOLDER) &&
                syscall(RESTRICT_SELF, rules, 0) == 0;
    if (rules >= 0) {
        close(rules);
    }
    return good;
}

const char* jnaSandbox_Missing(jnaSandbox sandbox)
{
    return sandbox.calls && sandbox.files ? NULL
           : sandbox.calls                ? "without Landlock, it could read other files"
           : sandbox.files
               ? "without seccomp, it could make connections"
               : "without seccomp and Landlock, it has the rights of this user, limits on memory and time apart";
}

jnaSandbox jnaEnterSandbox(const char* file)
{
    jnaSandbox sandbox = {0};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) {
        sandbox.files = RefuseFiles(file);
        sandbox.calls = RefuseCalls();
    }
    return sandbox;
}
