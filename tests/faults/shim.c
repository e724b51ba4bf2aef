/* Calls that fail on request: loaded before libc (LD_PRELOAD), it counts the calls that touch files
 * or memory and lets chosen ones fail, end early, kill the process or cut its power. tests/faults/
 * shim.py builds and drives it; disk.c keeps what would be lost in a power cut. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "disk.h"

/* Kinds of calls, to be or-ed into a mask; shim.py has the same list. */
enum kind {
    OPEN = 1, READ = 2, WRITE = 4, SYNC = 8, NAME = 16, SPACE = 32, MMAP = 64, CLOSE = 128,
    STAT = 256, XATTR = 512, ALLOC = 1024,
};
/* What happens at the so manieth call. */
enum mode { FAIL = 0, FAIL_FROM = 1, SHORT = 2, KILL = 3, POWER_CUT = 4, LOSE_FSYNC = 5 };

struct fault { long nth; int mode; int error; unsigned kinds; };

enum { FAULTS_MAX = 256, FOLDERS_MAX = 8 };
static struct fault faults[FAULTS_MAX];
static int fault_total;
static unsigned counted_kinds;
static atomic_long count, fired;
static char folders[FOLDERS_MAX][PATH_MAX];
static int folder_total;
static size_t least_bytes = 1 << 20;
static char last_fired[PATH_MAX + 64];
static int is_tracking;
static unsigned long cut_seed;

/* ---- control ------------------------------------------------------------------------------ */

void fault_disarm(void) { counted_kinds = 0; fault_total = 0; }

/* Begin to count calls of `kinds` from 1; `fault_add` says what happens at which. */
void fault_begin(unsigned kinds) {
    fault_disarm();
    count = fired = 0;
    last_fired[0] = 0;
    counted_kinds = kinds;
}

/* At the nth counted call, if its kind is in `kinds`: mode and errno. Order by nth, please. */
int fault_add(long nth, int mode, int error, unsigned kinds) {
    if (fault_total == FAULTS_MAX) return -1;
    faults[fault_total++] = (struct fault){nth, mode, error, kinds};
    return 0;
}

void fault_arm(unsigned kinds, long nth, int error) {
    fault_begin(kinds);
    fault_add(nth, FAIL, error, ~0u);
}

long fault_count(void) { return count; }
long fault_fired(void) { return fired; }
const char *fault_where(void) { return last_fired; }

/* Count only calls on files in these folders (absolute, ':' between them); "" means everywhere. */
void fault_paths(const char *list) {
    folder_total = 0;
    while (*list && folder_total < FOLDERS_MAX) {
        size_t length = strcspn(list, ":");
        snprintf(folders[folder_total++], PATH_MAX, "%.*s", (int)length, list);
        list += length + (list[length] == ':');
    }
}

/* Anonymous mappings and allocations of fewer bytes are not counted. */
void fault_least_bytes(size_t bytes) { least_bytes = bytes; }

/* From now on remember what a power cut would lose; `folder` is kept for unlinked files. */
void fault_track(const char *folder) { disk_track(folder); is_tracking = 1; }

/* Put the tracked files back to what a power cut now could leave; seed 0 loses all it can. */
void fault_power_cut(unsigned long seed) { is_tracking = 0; disk_cut(seed); }
void fault_cut_seed(unsigned long seed) { cut_seed = seed; }

__attribute__((constructor)) static void from_environment(void) {
    const char *kinds = getenv("FAULT_KINDS"), *nth = getenv("FAULT_NTH");
    const char *mode = getenv("FAULT_MODE"), *error = getenv("FAULT_ERRNO");
    if (getenv("FAULT_PATHS")) fault_paths(getenv("FAULT_PATHS"));
    if (getenv("FAULT_LEAST_BYTES")) least_bytes = strtoul(getenv("FAULT_LEAST_BYTES"), NULL, 10);
    if (!kinds || !nth) return;
    fault_begin((unsigned)atoi(kinds));
    fault_add(atol(nth), mode ? atoi(mode) : FAIL, error ? atoi(error) : EIO, ~0u);
}

__attribute__((destructor)) static void to_report(void) {
    const char *path = getenv("FAULT_REPORT");
    if (!path) return;
    char text[PATH_MAX + 128];
    int length = snprintf(text, sizeof text, "%ld %ld %s\n", (long)count, (long)fired, last_fired);
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd >= 0) syscall(SYS_write, fd, text, length);
    if (fd >= 0) syscall(SYS_close, fd);
}

/* ---- which calls ----------------------------------------------------------------------------*/

static const char *path_of(int fd, char *into) {
    char link[32];
    if (fd == AT_FDCWD) return syscall(SYS_getcwd, into, PATH_MAX) > 0 ? into : "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    long length = syscall(SYS_readlinkat, AT_FDCWD, link, into, PATH_MAX - 1);
    into[length > 0 ? length : 0] = 0;
    return into;
}

static const char *joined(int folder, const char *path, char *into) {
    if (path[0] == '/') return path;
    path_of(folder, into);
    size_t length = strlen(into);
    snprintf(into + length, PATH_MAX - length, "/%s", path);
    return into;
}

static int is_covered(const char *path) {
    for (int i = 0; i < folder_total; i++) {
        size_t length = strlen(folders[i]);
        if (!strncmp(path, folders[i], length) && (!path[length] || path[length] == '/')) return 1;
    }
    return folder_total == 0;
}

/* What is to become of a call; `error` 0 lets it pass. */
struct fate { int error, is_short, is_lost; };

static int can_be_interrupted(unsigned kind) {
    return kind & (OPEN | READ | WRITE | SYNC | SPACE | CLOSE);
}

static struct fate decide(unsigned kind, const char *name, const char *path) {
    struct fate fate = {0};
    if (!(counted_kinds & kind)) return fate;
    long now = ++count;
    for (int i = 0; i < fault_total; i++) {
        struct fault *each = &faults[i];
        int lasts = each->mode == FAIL_FROM || each->mode == LOSE_FSYNC;
        if (!(each->kinds & kind) || (lasts ? now < each->nth : now != each->nth)) continue;
        if (each->error == EINTR && !can_be_interrupted(kind)) continue;
        if (each->mode == SHORT && !(kind & (READ | WRITE))) continue;
        if (each->mode == LOSE_FSYNC && kind != SYNC) continue;
        fired++;
        snprintf(last_fired, sizeof last_fired, "%s %s", name, path);
        switch (each->mode) {
        case SHORT: fate.is_short = 1; break;
        case LOSE_FSYNC: fate.is_lost = 1; break;
        case POWER_CUT: fault_power_cut(cut_seed); /* fall through */
        case KILL: syscall(SYS_kill, syscall(SYS_getpid), SIGKILL); break;
        default: fate.error = each->error;
        }
    }
    return fate;
}

static struct fate on_path(unsigned kind, const char *name, int folder, const char *path) {
    char whole[PATH_MAX];
    if (!(counted_kinds & kind)) return (struct fate){0};
    path = joined(folder, path, whole);
    return is_covered(path) ? decide(kind, name, path) : (struct fate){0};
}

static struct fate on_fd(unsigned kind, const char *name, int fd) {
    char whole[PATH_MAX];
    if (!(counted_kinds & kind)) return (struct fate){0};
    const char *path = path_of(fd, whole);
    if (!folder_total && fd <= 2) return (struct fate){0};
    return is_covered(path) ? decide(kind, name, path) : (struct fate){0};
}

static int is_tracked(int fd) {
    char whole[PATH_MAX];
    return is_tracking && is_covered(path_of(fd, whole));
}

static int is_tracked_path(int folder, const char *path) {
    char whole[PATH_MAX];
    return is_tracking && is_covered(joined(folder, path, whole));
}

#define REFUSE(fate, value) do { if ((fate).error) { errno = (fate).error; return value; } } while (0)
#define SIZE(fate, bytes) ((fate).is_short && (bytes) > 1 ? (bytes) / 2 : (bytes))

/* ---- open, close, read, write -------------------------------------------------------------- */

static int opened(const char *name, int folder, const char *path, int flags, mode_t mode) {
    struct fate fate = on_path(OPEN, name, folder, path);
    REFUSE(fate, -1);
    int tracked = is_tracked_path(folder, path);
    char whole[PATH_MAX];
    const char *full = tracked ? joined(folder, path, whole) : path;
    int is_new = tracked && (flags & O_CREAT)
        && syscall(SYS_faccessat, folder, path, F_OK) != 0;
    if (tracked && (flags & O_TRUNC) && !is_new) disk_truncate(full, 0);
    int fd = (int)syscall(SYS_openat, folder, path, flags, mode);
    if (fd >= 0 && is_new) disk_created(full, fd);
    return fd;
}

#define MODE_OF(flags) ({ mode_t m = 0; if ((flags) & (O_CREAT | O_TMPFILE)) { \
    va_list rest; va_start(rest, flags); m = va_arg(rest, mode_t); va_end(rest); } m; })

int open(const char *p, int flags, ...) { return opened("open", AT_FDCWD, p, flags, MODE_OF(flags)); }
int open64(const char *p, int flags, ...) { return opened("open", AT_FDCWD, p, flags, MODE_OF(flags)); }
int openat(int d, const char *p, int flags, ...) { return opened("openat", d, p, flags, MODE_OF(flags)); }
int openat64(int d, const char *p, int flags, ...) { return opened("openat", d, p, flags, MODE_OF(flags)); }
int __open_2(const char *p, int flags) { return opened("open", AT_FDCWD, p, flags, 0); }
int __open64_2(const char *p, int flags) { return opened("open", AT_FDCWD, p, flags, 0); }
int __openat_2(int d, const char *p, int flags) { return opened("openat", d, p, flags, 0); }
int __openat64_2(int d, const char *p, int flags) { return opened("openat", d, p, flags, 0); }
int creat(const char *p, mode_t m) { return opened("creat", AT_FDCWD, p, O_CREAT | O_WRONLY | O_TRUNC, m); }
int creat64(const char *p, mode_t m) { return opened("creat", AT_FDCWD, p, O_CREAT | O_WRONLY | O_TRUNC, m); }

int close(int fd) {
    struct fate fate = {0};
    /* Only a file that was written to has something to flush that can fail. */
    if (fcntl(fd, F_GETFL) & (O_WRONLY | O_RDWR)) fate = on_fd(CLOSE, "close", fd);
    int result = (int)syscall(SYS_close, fd); /* Linux closes it whatever it says. */
    REFUSE(fate, -1);
    return result;
}

ssize_t read(int fd, void *into, size_t size) {
    struct fate fate = on_fd(READ, "read", fd);
    REFUSE(fate, -1);
    return syscall(SYS_read, fd, into, SIZE(fate, size));
}

ssize_t pread64(int fd, void *into, size_t size, off_t at) {
    struct fate fate = on_fd(READ, "pread", fd);
    REFUSE(fate, -1);
    return syscall(SYS_pread64, fd, into, SIZE(fate, size), at);
}
ssize_t pread(int fd, void *into, size_t size, off_t at) { return pread64(fd, into, size, at); }
ssize_t __read_chk(int fd, void *into, size_t size, size_t room) { (void)room; return read(fd, into, size); }
ssize_t __pread_chk(int fd, void *into, size_t size, off_t at, size_t room) { (void)room; return pread64(fd, into, size, at); }
ssize_t __pread64_chk(int fd, void *into, size_t size, off_t at, size_t room) { (void)room; return pread64(fd, into, size, at); }

static off_t place_of(int fd) {
    struct stat about;
    if (fcntl(fd, F_GETFL) & O_APPEND) return syscall(SYS_newfstatat, fd, "", &about, AT_EMPTY_PATH) ? 0 : about.st_size;
    return lseek(fd, 0, SEEK_CUR);
}

ssize_t write(int fd, const void *from, size_t size) {
    struct fate fate = on_fd(WRITE, "write", fd);
    REFUSE(fate, -1);
    size = SIZE(fate, size);
    if (is_tracked(fd)) disk_write(fd, place_of(fd), size);
    return syscall(SYS_write, fd, from, size);
}

ssize_t pwrite64(int fd, const void *from, size_t size, off_t at) {
    struct fate fate = on_fd(WRITE, "pwrite", fd);
    REFUSE(fate, -1);
    size = SIZE(fate, size);
    if (is_tracked(fd)) disk_write(fd, at, size);
    return syscall(SYS_pwrite64, fd, from, size, at);
}
ssize_t pwrite(int fd, const void *from, size_t size, off_t at) { return pwrite64(fd, from, size, at); }

/* A vector is written piece by piece: the first piece alone, which is a short write at worst. */
ssize_t writev(int fd, const struct iovec *parts, int total) {
    return total > 0 ? write(fd, parts[0].iov_base, parts[0].iov_len) : 0;
}
ssize_t pwritev64(int fd, const struct iovec *parts, int total, off_t at) {
    return total > 0 ? pwrite64(fd, parts[0].iov_base, parts[0].iov_len, at) : 0;
}
ssize_t pwritev(int fd, const struct iovec *parts, int total, off_t at) { return pwritev64(fd, parts, total, at); }

ssize_t sendfile64(int out, int in, off_t *at, size_t size) {
    struct fate fate = on_fd(WRITE, "sendfile", out);
    REFUSE(fate, -1);
    size = SIZE(fate, size);
    if (is_tracked(out)) disk_write(out, place_of(out), size);
    return syscall(SYS_sendfile, out, in, at, size);
}
ssize_t sendfile(int out, int in, off_t *at, size_t size) { return sendfile64(out, in, at, size); }

/* ---- durability, space, names --------------------------------------------------------------- */

static int synced(const char *name, int fd, long number) {
    struct fate fate = on_fd(SYNC, name, fd);
    if (fate.error && fate.error != EINTR && is_tracked(fd)) disk_sync_failed(fd);
    REFUSE(fate, -1);
    if (fate.is_lost) return 0;
    int result = (int)syscall(number, fd);
    if (result == 0 && is_tracked(fd)) disk_synced(fd);
    return result;
}
int fsync(int fd) { return synced("fsync", fd, SYS_fsync); }
int fdatasync(int fd) { return synced("fdatasync", fd, SYS_fdatasync); }
int sync_file_range(int fd, off64_t at, off64_t size, unsigned flags) {
    struct fate fate = on_fd(SYNC, "sync_file_range", fd);
    REFUSE(fate, -1);
    return (int)syscall(SYS_sync_file_range, fd, at, size, flags);
}

int ftruncate64(int fd, off_t size) {
    struct fate fate = on_fd(SPACE, "ftruncate", fd);
    char whole[PATH_MAX];
    REFUSE(fate, -1);
    if (is_tracked(fd)) disk_truncate(path_of(fd, whole), size);
    return (int)syscall(SYS_ftruncate, fd, size);
}
int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }
int truncate64(const char *path, off_t size) {
    struct fate fate = on_path(SPACE, "truncate", AT_FDCWD, path);
    char whole[PATH_MAX];
    REFUSE(fate, -1);
    if (is_tracked_path(AT_FDCWD, path)) disk_truncate(joined(AT_FDCWD, path, whole), size);
    return (int)syscall(SYS_truncate, path, size);
}
int truncate(const char *path, off_t size) { return truncate64(path, size); }
int fallocate64(int fd, int mode, off_t at, off_t size) {
    struct fate fate = on_fd(SPACE, "fallocate", fd);
    REFUSE(fate, -1);
    if (is_tracked(fd)) disk_write(fd, at, 0);
    return (int)syscall(SYS_fallocate, fd, mode, at, size);
}
int fallocate(int fd, int mode, off_t at, off_t size) { return fallocate64(fd, mode, at, size); }
int posix_fallocate64(int fd, off_t at, off_t size) { /* returns the errno */
    struct fate fate = on_fd(SPACE, "posix_fallocate", fd);
    if (fate.error) return fate.error;
    if (is_tracked(fd)) disk_write(fd, at, 0);
    return syscall(SYS_fallocate, fd, 0, at, size) ? errno : 0;
}
int posix_fallocate(int fd, off_t at, off_t size) { return posix_fallocate64(fd, at, size); }

int renameat2(int d1, const char *from, int d2, const char *to, unsigned flags) {
    struct fate fate = on_path(NAME, "rename", d2, to);
    char first[PATH_MAX], second[PATH_MAX];
    REFUSE(fate, -1);
    int step = is_tracked_path(d2, to)
        ? disk_renaming(joined(d1, from, first), joined(d2, to, second)) : -1;
    int result = (int)syscall(SYS_renameat2, d1, from, d2, to, flags);
    if (result) disk_forget(step);
    return result;
}
int rename(const char *from, const char *to) { return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0); }
int renameat(int d1, const char *from, int d2, const char *to) { return renameat2(d1, from, d2, to, 0); }

int linkat(int d1, const char *from, int d2, const char *to, int flags) {
    struct fate fate = on_path(NAME, "link", d2, to);
    char whole[PATH_MAX];
    REFUSE(fate, -1);
    int result = (int)syscall(SYS_linkat, d1, from, d2, to, flags);
    if (!result && is_tracked_path(d2, to)) disk_created(joined(d2, to, whole), -1);
    return result;
}
int link(const char *from, const char *to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

int unlinkat(int d, const char *path, int flags) {
    struct fate fate = on_path(NAME, flags & AT_REMOVEDIR ? "rmdir" : "unlink", d, path);
    char whole[PATH_MAX];
    REFUSE(fate, -1);
    int step = !(flags & AT_REMOVEDIR) && is_tracked_path(d, path)
        ? disk_unlinking(joined(d, path, whole)) : -1;
    int result = (int)syscall(SYS_unlinkat, d, path, flags);
    if (result) disk_forget(step);
    return result;
}
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

int mkdirat(int d, const char *path, mode_t mode) {
    struct fate fate = on_path(NAME, "mkdir", d, path);
    REFUSE(fate, -1);
    return (int)syscall(SYS_mkdirat, d, path, mode);
}
int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

/* ---- attributes ------------------------------------------------------------------------------ */

#define NEXT(name, type, ...) ({ static type (*next)(__VA_ARGS__); \
    next = next ? next : (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name); next; })

#define STAT_AT_PATH(name, about) int name(const char *path, struct about *into) { \
    struct fate fate = on_path(STAT, #name, AT_FDCWD, path); REFUSE(fate, -1); \
    return NEXT(#name, int, const char *, struct about *)(path, into); }
#define STAT_AT_FD(name, about) int name(int fd, struct about *into) { \
    struct fate fate = on_fd(STAT, #name, fd); REFUSE(fate, -1); \
    return NEXT(#name, int, int, struct about *)(fd, into); }
#define STAT_AT_FOLDER(name, about) \
    int name(int folder, const char *path, struct about *into, int flags) { \
    struct fate fate = on_path(STAT, #name, folder, path); REFUSE(fate, -1); \
    return NEXT(#name, int, int, const char *, struct about *, int)(folder, path, into, flags); }
STAT_AT_PATH(stat, stat) STAT_AT_PATH(lstat, stat) STAT_AT_FD(fstat, stat) STAT_AT_FOLDER(fstatat, stat)
STAT_AT_PATH(stat64, stat64) STAT_AT_PATH(lstat64, stat64) STAT_AT_FD(fstat64, stat64)
STAT_AT_FOLDER(fstatat64, stat64)

int setxattr(const char *path, const char *name, const void *value, size_t size, int flags) {
    struct fate fate = on_path(XATTR, "setxattr", AT_FDCWD, path);
    REFUSE(fate, -1);
    return (int)syscall(SYS_setxattr, path, name, value, size, flags);
}
int fsetxattr(int fd, const char *name, const void *value, size_t size, int flags) {
    struct fate fate = on_fd(XATTR, "fsetxattr", fd);
    REFUSE(fate, -1);
    return (int)syscall(SYS_fsetxattr, fd, name, value, size, flags);
}
ssize_t fgetxattr(int fd, const char *name, void *value, size_t size) {
    struct fate fate = on_fd(XATTR, "fgetxattr", fd);
    REFUSE(fate, -1);
    return syscall(SYS_fgetxattr, fd, name, value, size);
}
int fremovexattr(int fd, const char *name) {
    struct fate fate = on_fd(XATTR, "fremovexattr", fd);
    REFUSE(fate, -1);
    return (int)syscall(SYS_fremovexattr, fd, name);
}

/* ---- memory ----------------------------------------------------------------------------------- */

void *mmap64(void *hint, size_t size, int protection, int flags, int fd, off_t at) {
    struct fate fate = {0};
    if (!(flags & MAP_ANONYMOUS)) fate = on_fd(MMAP, "mmap", fd);
    else if (size >= least_bytes) fate = decide(MMAP, "mmap", "anonymous");
    REFUSE(fate, MAP_FAILED);
    return (void *)syscall(SYS_mmap, hint, size, protection, flags, fd, at);
}
void *mmap(void *hint, size_t size, int protection, int flags, int fd, off_t at) {
    return mmap64(hint, size, protection, flags, fd, at);
}

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);

static int has_room(const char *name, size_t size) {
    if (!(counted_kinds & ALLOC) || size < least_bytes) return 1;
    struct fate fate = decide(ALLOC, name, "");
    if (fate.error) errno = ENOMEM;
    return !fate.error;
}
void *malloc(size_t size) { return has_room("malloc", size) ? __libc_malloc(size) : NULL; }
void *calloc(size_t total, size_t size) {
    return has_room("calloc", total * size) ? __libc_calloc(total, size) : NULL;
}
void *realloc(void *old, size_t size) { return has_room("realloc", size) ? __libc_realloc(old, size) : NULL; }
void *memalign(size_t alignment, size_t size) {
    return has_room("memalign", size) ? __libc_memalign(alignment, size) : NULL;
}
void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void **into, size_t alignment, size_t size) {
    void *got = memalign(alignment, size);
    if (!got) return ENOMEM;
    *into = got;
    return 0;
}
