// The sandbox: a list of system calls that a reader of files has no use for, and Landlock's rules for paths.
//
// The list is of what is refused rather than of what is allowed: libraries differ in what they call, and a reader that
// fails on a new libc would be turned off. What is refused is everything that reaches beyond the process.
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
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef OWN_ARCHITECTURE

static const int refusedCalls[] = {
    // Connections.
    SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_listen, SYS_accept4, SYS_sendto, SYS_sendmsg, SYS_sendmmsg,
    // Other programs and processes. abort() sends its signal by tgkill.
    SYS_execve, SYS_execveat, SYS_kill, SYS_tkill, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev,
    // Names of files.
    SYS_unlinkat, SYS_renameat2, SYS_linkat, SYS_symlinkat, SYS_mkdirat, SYS_mknodat, SYS_fchmod, SYS_fchmodat,
    SYS_fchown, SYS_fchownat, SYS_truncate, SYS_utimensat, SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr,
    SYS_open_by_handle_at,
#ifdef __x86_64__
    SYS_accept, SYS_fork, SYS_vfork, SYS_creat, SYS_unlink, SYS_rmdir, SYS_rename, SYS_renameat, SYS_link, SYS_symlink,
    SYS_mkdir, SYS_mknod, SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes,
#endif
    // The system.
    SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_unshare, SYS_setns, SYS_bpf, SYS_perf_event_open,
    SYS_userfaultfd, SYS_keyctl, SYS_add_key, SYS_request_key, SYS_init_module, SYS_finit_module, SYS_kexec_load,
    SYS_reboot, SYS_swapon, SYS_settimeofday, SYS_clock_settime, SYS_sethostname};
// Those that libc can do without if they do not exist.
static const int missingCalls[] = {SYS_openat2, SYS_clone3, SYS_io_uring_setup, SYS_io_uring_enter};
enum {
    REFUSED_COUNT = sizeof(refusedCalls) / sizeof(refusedCalls[0]),
    MISSING_COUNT = sizeof(missingCalls) / sizeof(missingCalls[0]),
    WRITING = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND,
    MAX_FILTER = REFUSED_COUNT * 2 + MISSING_COUNT * 2 + 32,
};

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

static void RefuseCall(Filter* f, int call, uint32_t code)
{
    Add(f, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 1);
    Return(f, REFUSE(code));
}

// Refuses a call by the bits of an argument: where any is set, or where none is.
static void RefuseBits(Filter* f, int call, uint32_t argument, uint32_t bits, bool where)
{
    Add(f, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 4);
    Load(f, ARGUMENT(argument));
    Add(f, BPF_JMP | BPF_JSET | BPF_K, bits, where ? 0 : 1, where ? 1 : 0);
    Return(f, REFUSE(EACCES));
    Return(f, SECCOMP_RET_ALLOW);
}

static bool RefuseCalls(void)
{
    Filter f = {.count = 0};
    Load(&f, offsetof(struct seccomp_data, arch));
    Add(&f, BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCHITECTURE, 1, 0);
    Return(&f, SECCOMP_RET_KILL_PROCESS);
    Load(&f, offsetof(struct seccomp_data, nr));
#ifdef __x86_64__ // the other numbering of the same machine
    Add(&f, BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);
    Return(&f, REFUSE(ENOSYS));
#endif
    for (int i = 0; i < REFUSED_COUNT; ++i) {
        RefuseCall(&f, refusedCalls[i], EPERM);
    }
    for (int i = 0; i < MISSING_COUNT; ++i) {
        RefuseCall(&f, missingCalls[i], ENOSYS);
    }
    RefuseBits(&f, SYS_openat, 2, WRITING, true);
#ifdef __x86_64__
    RefuseBits(&f, SYS_open, 1, WRITING, true);
#endif
    RefuseBits(&f, SYS_clone, 0, CLONE_THREAD, false); // threads, no processes
    Return(&f, SECCOMP_RET_ALLOW);
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

jnaSandbox jnaEnterSandbox(const char* file)
{
    jnaSandbox sandbox = {0};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) {
        sandbox.files = RefuseFiles(file);
        sandbox.calls = RefuseCalls();
    }
    return sandbox;
}
