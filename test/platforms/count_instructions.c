// A plugin of qemu-user that counts the instructions a program executed and prints them to stderr when it ends:
//
//     cc -shared -fPIC count_instructions.c -o count.so && qemu-aarch64 -plugin ./count.so PROGRAM
//
// Debian has no header for plugins; these are the five declarations that it takes (version 1 of the interface).
#include <stdint.h>
#include <stdio.h>

typedef uint64_t PluginId;
struct qemu_plugin_tb;
void qemu_plugin_register_vcpu_tb_trans_cb(PluginId id, void (*call)(PluginId, struct qemu_plugin_tb*));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* block);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb* block, int operation, void* to, uint64_t value);
void qemu_plugin_register_atexit_cb(PluginId id, void (*call)(PluginId, void*), void* user);
int qemu_plugin_install(PluginId id, const void* info, int argc, char** argv);
extern int qemu_plugin_version;

int qemu_plugin_version = 1;
static uint64_t count;

static void OnBlock(PluginId id, struct qemu_plugin_tb* block)
{
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_inline(block, 0, &count, qemu_plugin_tb_n_insns(block));
}

static void OnExit(PluginId id, void* user)
{
    (void)id;
    (void)user;
    fprintf(stderr, "instructions %llu\n", (unsigned long long)count);
}

int qemu_plugin_install(PluginId id, const void* info, int argc, char** argv)
{
    (void)info;
    (void)argc;
    (void)argv;
    qemu_plugin_register_vcpu_tb_trans_cb(id, OnBlock);
    qemu_plugin_register_atexit_cb(id, OnExit, NULL);
    return 0;
}
