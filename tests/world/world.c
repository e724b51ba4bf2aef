/* The results disk and the clocks of a simulated world, as a library to be preloaded.
 *
 * Only a process that called world_begin() lives in the world; in any other each call passes.
 * The disk is what lies below the prefix: it counts its calls, fails and cuts short the ones it is
 * told to, and writes down what was not flushed yet, so that a power cut can take it back.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { FAIL = 1, SHORT, LIE, KILL, TEAR, SIGNAL, STEP, SUSPEND };
enum { WRITE = 1, SIZE, MAKE, UNLINK, RENAME };
enum { DURABLE = 1, DOOMED = 2 };
enum { TRIGGERS = 32, NAME = 512, FDS = 4096, KINDS = 16 };

struct trigger {
    int64_t at, action, value, lasts, done;
};

struct entry { /* of the log; behind it `before` bytes that were there and `after` that came */
    uint32_t type, flags;
    uint64_t inode, other, offset, size_before, size_after, before, after, whole;
    char name[NAME], name_to[NAME];
};

struct world {
    char prefix[NAME], grave[NAME];
    int64_t calls, triggers, now_ns, tick_ns, wall_ns, asleep_ns, lying, overflow;
    int64_t injected[KINDS];
    struct trigger trigger[TRIGGERS];
    uint64_t log_used, log_size;
    char log[];
};

static struct world *w;
static int alive;
static uint64_t inode_of[FDS];
static char is_folder[FDS];

#define REAL(name) ((__typeof__(&name))real(#name))
static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

void world_map(const char *path, uint64_t size) {
    int fd = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || syscall(SYS_ftruncate, fd, size))
        abort();
    w = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (w == MAP_FAILED)
        abort();
    w->log_size = size - sizeof *w;
    syscall(SYS_close, fd);
}
struct world *world_state(void) { return w; }
void world_begin(void) { alive = 1; }
void world_advance(int64_t ns) { w->now_ns += ns; }

/* ---- triggers ---------------------------------------------------------------------------- */

static void die(void) { syscall(SYS_kill, syscall(SYS_getpid), SIGKILL); }

/* Count one call to the disk; return the action that befalls it, 0 if none. */
static int befalls(int64_t *value, int writes, int flushes) {
    int found = 0;
    w->calls++;
    for (int64_t i = 0; i < w->triggers; i++) {
        struct trigger *t = &w->trigger[i];
        if (w->calls < t->at || t->done >= t->lasts)
            continue;
        if ((t->action == SHORT || t->action == TEAR) && !writes)
            continue;
        if (t->action == LIE && !flushes)
            continue;
        t->done++;
        w->injected[t->action]++;
        switch (t->action) {
        case KILL: die(); break;
        case SIGNAL: raise((int)t->value); break;
        case STEP: w->wall_ns += t->value; break;
        case SUSPEND: w->asleep_ns += t->value; break;
        default: found = (int)t->action; *value = t->value;
        }
    }
    return found;
}

/* ---- the log ----------------------------------------------------------------------------- */

static struct entry *note(int type, uint64_t inode, uint64_t before, uint64_t after) {
    uint64_t whole = (sizeof(struct entry) + before + after + 15) / 16 * 16;
    if (w->log_used + whole > w->log_size) {
        w->overflow = 1;
        return NULL;
    }
    struct entry *e = (struct entry *)(w->log + w->log_used);
    memset(e, 0, sizeof *e);
    e->type = type;
    e->inode = inode;
    e->before = before;
    e->after = after;
    e->whole = whole;
    w->log_used += whole;
    return e;
}

static void settle(uint64_t inode, int folder, uint32_t flag) {
    for (uint64_t at = 0; at < w->log_used;) {
        struct entry *e = (struct entry *)(w->log + at);
        int names = e->type >= MAKE;
        if ((folder ? names : !names && e->inode == inode) && !(e->flags & DOOMED))
            e->flags |= flag;
        at += e->whole;
    }
}

static int64_t size_of(int fd) {
    struct stat st;
    return fstat(fd, &st) ? 0 : st.st_size;
}

static uint64_t inode_at(const char *path) {
    struct stat st;
    return lstat(path, &st) ? 0 : st.st_ino;
}

static void note_write(int fd, const char *data, size_t length, off_t offset) {
    int64_t size = size_of(fd), left = size - offset;
    uint64_t before = left <= 0 ? 0 : (uint64_t)left < length ? (uint64_t)left : length;
    struct entry *e = note(WRITE, inode_of[fd], before, length);
    if (!e)
        return;
    char *body = (char *)(e + 1);
    e->offset = offset;
    e->size_before = size;
    e->size_after = offset + (int64_t)length > size ? offset + (int64_t)length : size;
    if (before) {
        char link[64];
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd); /* it may be open for writing only */
        int again = syscall(SYS_openat, AT_FDCWD, link, O_RDONLY | O_CLOEXEC);
        if (again >= 0) {
            syscall(SYS_pread64, again, body, before, offset);
            syscall(SYS_close, again);
        }
    }
    memcpy(body + before, data, length);
}

static void note_size(int fd, uint64_t inode, int64_t to) {
    int64_t size = size_of(fd);
    uint64_t before = to < size ? size - to : 0;
    struct entry *e = size == to ? NULL : note(SIZE, inode, before, 0);
    if (!e)
        return;
    e->size_before = size;
    e->size_after = to;
    e->offset = to < size ? to : size;
    if (before)
        syscall(SYS_pread64, fd, (char *)(e + 1), before, to);
}

/* ---- paths ------------------------------------------------------------------------------- */

static int on_disk(const char *path) {
    size_t length = strlen(w->prefix);
    return !strncmp(path, w->prefix, length) && (path[length] == '/' || !path[length]);
}

/* Return the whole path if it is on the disk, NULL if not. */
static const char *found(int folder, const char *path, char *room) {
    if (!alive || !path)
        return NULL;
    if (path[0] == '/')
        return on_disk(path) ? path : NULL;
    char link[64], base[NAME];
    if (folder == AT_FDCWD)
        snprintf(link, sizeof link, "/proc/self/cwd");
    else
        snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, base, sizeof base - 1);
    if (length < 0)
        return NULL;
    base[length] = 0;
    snprintf(room, PATH_MAX, "%s/%s", base, path);
    return on_disk(room) ? room : NULL;
}

static const char *last(const char *path) { return strrchr(path, '/') + 1; }

static int tracked(int fd) { return alive && fd >= 0 && fd < FDS && inode_of[fd] != 0; }

/* A file that loses its name keeps a grave, so that a power cut can give the name back. */
static void bury(const char *path) {
    char grave[2 * NAME];
    snprintf(grave, sizeof grave, "%s/%lu", w->grave, (unsigned long)inode_at(path));
    syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, grave, 0);
}

static int opened(int folder, const char *path, int flags, mode_t mode) {
    char room[PATH_MAX];
    const char *whole = found(folder, path, room);
    if (!whole)
        return syscall(SYS_openat, folder, path, flags, mode);
    int64_t value = 0;
    if (befalls(&value, 0, 0) == FAIL) {
        errno = (int)value;
        return -1;
    }
    int is_new = (flags & O_CREAT) && !inode_at(whole);
    int fd = syscall(SYS_openat, folder, path, flags & ~O_TRUNC, mode);
    if (fd < 0 || fd >= FDS)
        return fd;
    struct stat st;
    fstat(fd, &st);
    is_folder[fd] = S_ISDIR(st.st_mode);
    inode_of[fd] = S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) ? st.st_ino : 0;
    struct entry *e = is_new ? note(MAKE, st.st_ino, 0, 0) : NULL;
    if (e)
        strncpy(e->name, last(whole), NAME - 1);
    if ((flags & O_TRUNC) && st.st_size) {
        note_size(fd, st.st_ino, 0);
        syscall(SYS_ftruncate, fd, 0);
    }
    return fd;
}

#define MODE(flags, after) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | O_TMPFILE)) { \
        va_list list; \
        va_start(list, after); \
        mode = va_arg(list, mode_t); \
        va_end(list); \
    }
int open(const char *path, int flags, ...) {
    MODE(flags, flags)
    return opened(AT_FDCWD, path, flags, mode);
}
int open64(const char *path, int flags, ...) {
    MODE(flags, flags)
    return opened(AT_FDCWD, path, flags, mode);
}
int openat(int folder, const char *path, int flags, ...) {
    MODE(flags, flags)
    return opened(folder, path, flags, mode);
}
int openat64(int folder, const char *path, int flags, ...) {
    MODE(flags, flags)
    return opened(folder, path, flags, mode);
}
int close(int fd) {
    if (fd >= 0 && fd < FDS)
        inode_of[fd] = 0;
    return syscall(SYS_close, fd);
}

/* ---- reading, writing, flushing ---------------------------------------------------------- */

static ssize_t written(int fd, const void *data, size_t length, off_t offset, int moves) {
    int64_t value = 0;
    int action = befalls(&value, 1, 0);
    if (action == FAIL) {
        errno = (int)value;
        return -1;
    }
    if ((action == SHORT || action == TEAR) && length > 1)
        length = length / 2;
    note_write(fd, data, length, offset);
    ssize_t done = syscall(SYS_pwrite64, fd, data, length, offset);
    if (action == TEAR)
        die();
    if (done > 0 && moves)
        lseek(fd, offset + done, SEEK_SET);
    return done;
}

ssize_t write(int fd, const void *data, size_t length) {
    if (!tracked(fd))
        return syscall(SYS_write, fd, data, length);
    int appends = fcntl(fd, F_GETFL) & O_APPEND;
    off_t offset = appends ? size_of(fd) : lseek(fd, 0, SEEK_CUR);
    return written(fd, data, length, offset, 1);
}
ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset) {
    if (!tracked(fd))
        return syscall(SYS_pwrite64, fd, data, length, offset);
    return written(fd, data, length, offset, 0);
}
ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) {
    return pwrite64(fd, data, length, offset);
}

static int refused(int fd) {
    int64_t value = 0;
    if (!tracked(fd) || befalls(&value, 0, 0) != FAIL)
        return 0;
    errno = (int)value;
    return 1;
}
ssize_t read(int fd, void *data, size_t length) {
    return refused(fd) ? -1 : syscall(SYS_read, fd, data, length);
}
ssize_t pread64(int fd, void *data, size_t length, off64_t offset) {
    return refused(fd) ? -1 : syscall(SYS_pread64, fd, data, length, offset);
}
ssize_t pread(int fd, void *data, size_t length, off_t offset) {
    return pread64(fd, data, length, offset);
}

static int flushed(int fd, long number) {
    if (!tracked(fd))
        return syscall(number, fd);
    int64_t value = 0;
    int action = befalls(&value, 0, 1);
    if (action == FAIL) { /* what was dirty is given up by the kernel, and stays in the cache */
        if (!is_folder[fd])
            settle(inode_of[fd], 0, DOOMED);
        errno = (int)value;
        return -1;
    }
    if (action != LIE)
        settle(inode_of[fd], is_folder[fd], DURABLE);
    else
        w->lying++;
    return 0;
}
int fsync(int fd) { return flushed(fd, SYS_fsync); }
int fdatasync(int fd) { return flushed(fd, SYS_fdatasync); }

int ftruncate64(int fd, off64_t size) {
    if (tracked(fd)) {
        if (refused(fd))
            return -1;
        note_size(fd, inode_of[fd], size);
    }
    return syscall(SYS_ftruncate, fd, size);
}
int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }
int truncate64(const char *path, off64_t size) {
    int fd = opened(AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    int done = ftruncate64(fd, size), kept = errno;
    close(fd);
    errno = kept;
    return done;
}
int truncate(const char *path, off_t size) { return truncate64(path, size); }

int posix_fallocate64(int fd, off64_t offset, off64_t length) {
    if (!tracked(fd))
        return REAL(posix_fallocate64)(fd, offset, length);
    int64_t value = 0;
    if (befalls(&value, 0, 0) == FAIL)
        return (int)value;
    if (offset + length > size_of(fd)) { /* no blocks: a world of memory has none to give away */
        note_size(fd, inode_of[fd], offset + length);
        syscall(SYS_ftruncate, fd, offset + length);
    }
    return 0;
}
int posix_fallocate(int fd, off_t offset, off_t length) {
    return posix_fallocate64(fd, offset, length);
}

/* ---- names ------------------------------------------------------------------------------- */

static int names(int type, int from, const char *a, int to, const char *b, int flags) {
    char room_a[PATH_MAX], room_b[PATH_MAX];
    const char *pa = found(from, a, room_a), *pb = b ? found(to, b, room_b) : NULL;
    if (pa || pb) {
        int64_t value = 0;
        if (befalls(&value, 0, 0) == FAIL) {
            errno = (int)value;
            return -1;
        }
    }
    uint64_t inode = pa ? inode_at(pa) : 0, other = pb ? inode_at(pb) : 0;
    if (pa && type == UNLINK && inode && !(flags & AT_REMOVEDIR))
        bury(pa);
    if (pb && type == RENAME && other)
        bury(pb);
    int done = type == UNLINK ? syscall(SYS_unlinkat, from, a, flags)
               : type == RENAME ? syscall(SYS_renameat2, from, a, to, b, flags)
                                : syscall(SYS_linkat, from, a, to, b, flags);
    if (done || !pa)
        return done;
    struct entry *e = note(type, inode, 0, 0);
    if (e) {
        e->other = other;
        strncpy(e->name, type == MAKE ? last(pb ? pb : pa) : last(pa), NAME - 1);
        if (type == RENAME && pb)
            strncpy(e->name_to, last(pb), NAME - 1);
    }
    return 0;
}
int unlinkat(int folder, const char *path, int flags) {
    return names(UNLINK, folder, path, AT_FDCWD, NULL, flags);
}
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int renameat2(int from, const char *a, int to, const char *b, unsigned flags) {
    return names(RENAME, from, a, to, b, (int)flags);
}
int renameat(int from, const char *a, int to, const char *b) {
    return names(RENAME, from, a, to, b, 0);
}
int rename(const char *a, const char *b) { return names(RENAME, AT_FDCWD, a, AT_FDCWD, b, 0); }
int linkat(int from, const char *a, int to, const char *b, int flags) {
    return names(MAKE, from, a, to, b, flags);
}
int link(const char *a, const char *b) { return names(MAKE, AT_FDCWD, a, AT_FDCWD, b, 0); }

/* ---- clocks ------------------------------------------------------------------------------ */

static struct timespec as_time(int64_t ns) {
    return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

int clock_gettime(clockid_t clock, struct timespec *out) {
    if (!alive || (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC && clock != CLOCK_BOOTTIME &&
                   clock != CLOCK_MONOTONIC_RAW && clock != CLOCK_MONOTONIC_COARSE &&
                   clock != CLOCK_REALTIME_COARSE))
        return syscall(SYS_clock_gettime, clock, out);
    w->now_ns += w->tick_ns;
    int64_t ns = w->now_ns;
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
        ns += w->asleep_ns + w->wall_ns;
    if (clock == CLOCK_BOOTTIME)
        ns += w->asleep_ns;
    *out = as_time(ns);
    return 0;
}
int gettimeofday(struct timeval *restrict out, void *restrict zone) {
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    *out = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return 0;
}
time_t time(time_t *out) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}

/* Nobody waits: the clock goes on by itself. What sleeps counts no call, for it may poll something
 * of the real host, and how often is no matter of the seed. */
static void rested(int64_t ns) { w->now_ns += ns > 0 ? ns : 0; }
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *ask, struct timespec *left) {
    if (!alive)
        return REAL(clock_nanosleep)(clock, flags, ask, left);
    int64_t ns = ask->tv_sec * 1000000000 + ask->tv_nsec;
    rested(flags & TIMER_ABSTIME ? ns - w->now_ns : ns);
    return 0;
}
int nanosleep(const struct timespec *ask, struct timespec *left) {
    if (!alive)
        return REAL(nanosleep)(ask, left);
    rested(ask->tv_sec * 1000000000 + ask->tv_nsec);
    return 0;
}
int usleep(useconds_t us) {
    struct timespec ask = as_time((int64_t)us * 1000);
    return nanosleep(&ask, NULL);
}
