/* The floor of one thread's I/O on this machine: the least that a loop can do in user space.
 *
 *   floor TARGET read|write DEPTH CPU_MS bare|histogram SIZE [buffered] [sync]
 *
 * bare: entries made once, no draws, no clock, no stamps, no books. histogram: a random offset for
 * each I/O, sixteen bytes in every sector written, one clock a turn, a histogram of all latencies.
 * Prints I/Os and CPU ns (user and system) of the loop; `floor.py` holds other tools to them. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif
#ifndef IORING_SETUP_NO_SQARRAY
#define IORING_SETUP_NO_SQARRAY (1u << 16)
#endif

enum { BLOCK = 4096, SECTOR = 512, BITS = 10, DEPTH_MAX = 1024, IOS_A_LOOK = 8192 };
enum { HUGE_BYTES = 2 << 20, REGISTER_RING_FDS = 20, ENTER_REGISTERED_RING = 1 << 4 };

static uint64_t histogram[(64 - BITS + 1) << BITS];
static uint64_t seed = 88172645463325252ull, sequence, blocks;
static char *arena;
static int file, writes;

static void fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The cheapest clock there is; its unit does not matter here. */
static inline uint64_t ticks(void)
{
#ifdef __x86_64__
    return __rdtsc();
#else
    return clock_ns(CLOCK_MONOTONIC);
#endif
}

static inline uint64_t offset_of_next(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint64_t)(((unsigned __int128)seed * blocks) >> 64) * BLOCK;
}

static inline void stamp(char *buffer, uint64_t offset)
{
    uint64_t write = ++sequence * 0x9e3779b97f4a7c15ull;
    for (unsigned at = 0; at < BLOCK; at += SECTOR) {
        uint64_t words[2] = {write, write ^ ((offset + at) / SECTOR)};
        memcpy(buffer + at, words, sizeof words);
    }
}

static inline void record(uint64_t value, uint64_t count)
{
    unsigned group = 63u - (unsigned)__builtin_clzll(value | (1u << BITS)) - BITS;
    histogram[((uint64_t)group << BITS) + (value >> group)] += count;
}

/* A system call within the loop: a function of libc returns once more, and the first return after
 * the kernel is guessed wrong where it mitigates speculation (measured here: 270 ns a call). */
static inline long kernel(long number, long a, long b, long c, long d)
{
#ifdef __x86_64__
    long result;
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = 0, r9 __asm__("r9") = 0;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
#else
    return syscall(number, a, b, c, d, 0, 0);
#endif
}

static inline long call(uint64_t offset)
{
    return kernel(writes ? SYS_pwrite64 : SYS_pread64, file, (long)arena, BLOCK, (long)offset);
}

static uint64_t bare_calls(uint64_t end_ns)
{
    uint64_t ios = 0, offset = offset_of_next();
    do {
        for (int turn = 0; turn < IOS_A_LOOK; turn++, ios++)
            if (call(offset) != BLOCK)
                fail("an I/O");
    } while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns);
    return ios;
}

static uint64_t booked_calls(uint64_t end_ns)
{
    uint64_t ios = 0, now = ticks();
    do {
        for (int turn = 0; turn < IOS_A_LOOK; turn++, ios++) {
            uint64_t offset = offset_of_next(), began = now;
            if (writes)
                stamp(arena, offset);
            if (call(offset) != BLOCK)
                fail("an I/O");
            now = ticks();
            record(now - began, 1);
        }
    } while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns);
    return ios;
}

static struct {
    unsigned name, *sq_tail, *cq_head, *cq_tail, sq_mask, cq_mask;
    struct io_uring_sqe *sqes;
    struct io_uring_cqe *cqes;
} ring;

static void open_ring(unsigned depth)
{
    struct io_uring_params p = {.flags = IORING_SETUP_SUBMIT_ALL | IORING_SETUP_SINGLE_ISSUER |
                                         IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_NO_SQARRAY};
    int fd = (int)syscall(SYS_io_uring_setup, depth, &p);
    if (fd < 0)
        fail("io_uring");
    size_t bytes = p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe);
    int access = PROT_READ | PROT_WRITE, how = MAP_SHARED | MAP_POPULATE;
    char *rings = mmap(0, bytes, access, how, fd, IORING_OFF_SQ_RING);
    void *sqes = mmap(0, p.sq_entries * sizeof(struct io_uring_sqe), access, how, fd,
                      IORING_OFF_SQES);
    struct iovec whole = {arena, (size_t)depth * BLOCK};
    struct io_uring_rsrc_update own = {.offset = ~0u, .data = (uint64_t)fd};
    if (rings == MAP_FAILED || sqes == MAP_FAILED ||
        syscall(SYS_io_uring_register, fd, IORING_REGISTER_FILES, &file, 1) ||
        syscall(SYS_io_uring_register, fd, IORING_REGISTER_BUFFERS, &whole, 1) ||
        syscall(SYS_io_uring_register, fd, REGISTER_RING_FDS, &own, 1) != 1)
        fail("io_uring");
    ring.name = own.offset;
    ring.sq_tail = (unsigned *)(rings + p.sq_off.tail);
    ring.cq_head = (unsigned *)(rings + p.cq_off.head);
    ring.cq_tail = (unsigned *)(rings + p.cq_off.tail);
    ring.sq_mask = p.sq_entries - 1;
    ring.cq_mask = p.cq_entries - 1;
    ring.sqes = sqes;
    ring.cqes = (struct io_uring_cqe *)(rings + p.cq_off.cqes);
}

static inline void write_entry(struct io_uring_sqe *sqe, uint64_t offset, unsigned slot,
                               uint64_t tag)
{
    sqe->opcode = writes ? IORING_OP_WRITE_FIXED : IORING_OP_READ_FIXED;
    sqe->flags = IOSQE_FIXED_FILE;
    sqe->fd = 0;
    sqe->off = offset;
    sqe->addr = (uint64_t)(uintptr_t)(arena + (size_t)slot * BLOCK);
    sqe->len = BLOCK;
    sqe->user_data = tag;
}

/* Everything is complete when the call returns, or the target is none for this. */
static inline void submit(unsigned tail, unsigned count)
{
    __atomic_store_n(ring.sq_tail, tail, __ATOMIC_RELEASE);
    if (kernel(SYS_io_uring_enter, ring.name, count, 0, ENTER_REGISTERED_RING) != (long)count)
        fail("io_uring_enter");
    if (__atomic_load_n(ring.cq_tail, __ATOMIC_ACQUIRE) != tail) {
        fprintf(stderr, "the target does not complete at once\n");
        exit(1);
    }
}

static uint64_t bare_ring(unsigned depth, uint64_t end_ns)
{
    unsigned tail = 0;
    uint64_t ios = 0;
    for (unsigned i = 0; i <= ring.sq_mask; i++)
        write_entry(&ring.sqes[i], offset_of_next(), i % depth, i);
    do {
        for (unsigned some = 0; some < IOS_A_LOOK; some += depth, ios += depth) {
            tail += depth;
            submit(tail, depth);
            __atomic_store_n(ring.cq_head, tail, __ATOMIC_RELEASE);
        }
        if (ring.cqes[0].res != BLOCK)
            fail("an I/O");
    } while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns);
    return ios;
}

static uint64_t booked_ring(unsigned depth, uint64_t end_ns)
{
    uint16_t free_slots[DEPTH_MAX];
    unsigned free_count = depth, tail = 0, head = 0;
    uint64_t ios = 0, looked = 0, now = ticks();
    for (unsigned i = 0; i < depth; i++)
        free_slots[i] = (uint16_t)i;
    for (;;) {
        unsigned pushed = free_count;
        while (free_count > 0) {
            unsigned slot = free_slots[--free_count];
            uint64_t offset = offset_of_next();
            if (writes)
                stamp(arena + (size_t)slot * BLOCK, offset);
            write_entry(&ring.sqes[tail++ & ring.sq_mask], offset, slot, (now << 16) | slot);
        }
        submit(tail, pushed);
        now = ticks();
        uint64_t run_of = 0, run = 0;
        for (; head != tail; head++) {
            struct io_uring_cqe *cqe = &ring.cqes[head & ring.cq_mask];
            if (cqe->res != BLOCK)
                fail("an I/O");
            free_slots[free_count++] = (uint16_t)cqe->user_data;
            uint64_t latency = ((now << 16) - (cqe->user_data & ~0xffffull)) >> 16;
            if (latency != run_of && run > 0) {
                record(run_of, run);
                run = 0;
            }
            run_of = latency;
            run++;
        }
        record(run_of, run);
        __atomic_store_n(ring.cq_head, head, __ATOMIC_RELEASE);
        ios += pushed;
        if (ios - looked < IOS_A_LOOK)
            continue;
        looked = ios;
        if (clock_ns(CLOCK_THREAD_CPUTIME_ID) >= end_ns)
            return ios;
    }
}

int main(int count, char **words)
{
    int direct = O_DIRECT, calls = 0;
    for (int i = 7; i < count; i++) {
        direct = strcmp(words[i], "buffered") ? direct : 0;
        calls = strcmp(words[i], "sync") ? calls : 1;
    }
    unsigned depth = count < 7 ? 0 : (unsigned)atoi(words[3]);
    if (depth < 1 || depth > DEPTH_MAX) {
        fprintf(stderr, "floor TARGET read|write DEPTH CPU_MS bare|histogram SIZE [buffered] [sync]\n");
        return 2;
    }
    writes = !strcmp(words[2], "write");
    int books = !strcmp(words[5], "histogram"), how = (writes ? O_WRONLY : O_RDONLY) | direct;
    blocks = strtoull(words[6], 0, 10) / BLOCK;
    file = open(words[1], how | O_NOATIME);
    if (file < 0 && (file = open(words[1], how)) < 0)
        fail(words[1]);
    size_t bytes = ((size_t)depth * BLOCK + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES;
    arena = aligned_alloc(HUGE_BYTES, bytes);
    if (!arena)
        fail("memory");
    madvise(arena, bytes, MADV_HUGEPAGE);
    memset(arena, 7, bytes);
    if (!calls)
        open_ring(depth);
    uint64_t ios, cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    uint64_t end_ns = cpu_ns + strtoull(words[4], 0, 10) * 1000000u;
    if (calls)
        ios = books ? booked_calls(end_ns) : bare_calls(end_ns);
    else
        ios = books ? booked_ring(depth, end_ns) : bare_ring(depth, end_ns);
    cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
    printf("{\"ios\": %llu, \"cpu_ns\": %llu}\n", (unsigned long long)ios,
           (unsigned long long)cpu_ns);
    return 0;
}
