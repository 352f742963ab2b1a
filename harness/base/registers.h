/* The registers of this processor as DWARF numbers them, which is what call stacks are made of. All
 * that Faultline knows about the registers of a processor is here: for another one, append a branch
 * (`registers_of_context` after getcontext, `registers_of_stopped` after ptrace). Where there is no
 * branch, everything works but the call stacks at kills. */
#ifndef BASE_REGISTERS_H
#define BASE_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/user.h>
#include <ucontext.h>

#define REGISTERS_MOST 33

struct registers {
    uint64_t count; /* of `value` */
    uint64_t pc;
    uint64_t sp;
    uint64_t value[REGISTERS_MOST]; /* from DWARF number 0 on */
};

#if defined(__x86_64__)

static inline bool registers_of_context(const ucontext_t *context, struct registers *registers)
{
    static const int order[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
    const greg_t *from = context->uc_mcontext.gregs;
    registers->count = sizeof order / sizeof order[0];
    for (uint64_t i = 0; i < registers->count; i++)
        registers->value[i] = (uint64_t)from[order[i]];
    registers->sp = (uint64_t)from[REG_RSP];
    registers->pc = (uint64_t)from[REG_RIP];
    return true;
}

static inline bool registers_of_stopped(const struct user_regs_struct *r,
                                        struct registers *registers)
{
    const uint64_t values[] = {r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi,
                               r->rbp, r->rsp, r->r8,  r->r9,  r->r10, r->r11,
                               r->r12, r->r13, r->r14, r->r15, r->rip};
    registers->count = sizeof values / sizeof values[0];
    memcpy(registers->value, values, sizeof values);
    registers->sp = r->rsp;
    registers->pc = r->rip;
    return true;
}

#elif defined(__aarch64__)

/* x0 to x30, then the stack pointer; the program counter has no number of its own. */
static inline bool registers_of_arm64(const void *x0, uint64_t sp, uint64_t pc,
                                      struct registers *registers)
{
    enum { GENERAL = 31 };
    memcpy(registers->value, x0, GENERAL * sizeof registers->value[0]);
    registers->value[GENERAL] = sp;
    registers->count = GENERAL + 1;
    registers->sp = sp;
    registers->pc = pc;
    return true;
}

static inline bool registers_of_context(const ucontext_t *context, struct registers *registers)
{
    const mcontext_t *from = &context->uc_mcontext;
    return registers_of_arm64(from->regs, from->sp, from->pc, registers);
}

static inline bool registers_of_stopped(const struct user_regs_struct *r,
                                        struct registers *registers)
{
    return registers_of_arm64(r->regs, r->sp, r->pc, registers);
}

#else

static inline bool registers_of_context(const ucontext_t *context, struct registers *registers)
{
    (void)context;
    (void)registers;
    return false;
}

static inline bool registers_of_stopped(const struct user_regs_struct *r,
                                        struct registers *registers)
{
    (void)r;
    (void)registers;
    return false;
}

#endif

#endif
