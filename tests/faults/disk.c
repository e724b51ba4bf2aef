/* The disk under the shim: what of a folder's files is durable, and what a power cut now loses.
 *
 * Data: a page's durable content is kept from its first change until the next fsync of its file; a
 * page whose fsync failed stays lost until it is written again (as Linux has it). Names: they are
 * durable once their folder was flushed, and are lost from the last backwards. */

#define _GNU_SOURCE
#include "disk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096, SECTOR = 512 };
enum act { CREATED, RENAMED, UNLINKED, DURABLE };

struct page { struct page *next; off_t number; int is_stuck; char content[PAGE]; };
struct file { struct file *next; dev_t dev; ino_t ino; int fd; off_t durable_bytes; struct page *pages; };
struct name { enum act act; char path[PATH_MAX], from[PATH_MAX], kept[PATH_MAX]; };

static struct file *files;
static struct name *names;
static int name_total, name_room, kept_total;
static char attic[PATH_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* `folder` (on the same file system, outside what is tracked) keeps what is unlinked. */
void disk_track(const char *folder) { snprintf(attic, sizeof attic, "%s", folder); }

static struct file *file_of(int fd) {
    struct stat about;
    char link[32];
    if (syscall(SYS_newfstatat, fd, "", &about, AT_EMPTY_PATH) || !S_ISREG(about.st_mode)) return NULL;
    for (struct file *each = files; each; each = each->next)
        if (each->dev == about.st_dev && each->ino == about.st_ino) return each;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    int own = (int)syscall(SYS_openat, AT_FDCWD, link, O_RDWR | O_CLOEXEC);
    if (own < 0) return NULL;
    struct file *made = calloc(1, sizeof *made);
    *made = (struct file){files, about.st_dev, about.st_ino, own, about.st_size, NULL};
    return files = made;
}

static void keep(struct file *file, off_t number) {
    struct page *page = file->pages;
    while (page && page->number != number) page = page->next;
    if (page) { page->is_stuck = 0; return; }
    page = calloc(1, sizeof *page);
    page->number = number;
    syscall(SYS_pread64, file->fd, page->content, (size_t)PAGE, number * PAGE);
    page->next = file->pages;
    file->pages = page;
}

static void changed(struct file *file, off_t at, off_t end) {
    for (off_t number = at / PAGE; number * PAGE < end; number++) keep(file, number);
}

void disk_write(int fd, off_t at, size_t size) {
    pthread_mutex_lock(&lock);
    struct file *file = file_of(fd);
    if (file) changed(file, at, at + (off_t)size);
    pthread_mutex_unlock(&lock);
}

void disk_truncate(const char *path, off_t size) {
    struct stat about;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
    if (fd < 0) return;
    pthread_mutex_lock(&lock);
    struct file *file = file_of(fd);
    if (file && !syscall(SYS_newfstatat, fd, "", &about, AT_EMPTY_PATH))
        changed(file, size, about.st_size);
    pthread_mutex_unlock(&lock);
    syscall(SYS_close, fd);
}

static int noted(enum act act, const char *path, const char *from) {
    pthread_mutex_lock(&lock);
    if (name_total == name_room) {
        name_room = name_room ? 2 * name_room : 64;
        names = realloc(names, name_room * sizeof *names);
    }
    struct name *name = &names[name_total];
    memset(name, 0, sizeof *name);
    name->act = act;
    snprintf(name->path, PATH_MAX, "%s", path);
    snprintf(name->from, PATH_MAX, "%s", from);
    if (act != CREATED) { /* what stands at the path now goes to the attic, to come back */
        snprintf(name->kept, PATH_MAX, "%.4000s/%d.%d", attic, (int)syscall(SYS_getpid), kept_total++);
        if (syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, name->kept, 0)) name->kept[0] = 0;
    }
    int step = name_total++;
    pthread_mutex_unlock(&lock);
    return step;
}

void disk_created(const char *path, int fd) {
    noted(CREATED, path, "");
    if (fd >= 0) disk_write(fd, 0, 0);
}
int disk_renaming(const char *from, const char *to) { return noted(RENAMED, to, from); }
int disk_unlinking(const char *path) { return noted(UNLINKED, path, ""); }

static void settle(struct name *name) {
    if (name->kept[0]) syscall(SYS_unlinkat, AT_FDCWD, name->kept, 0);
    name->act = DURABLE;
}
void disk_forget(int step) { if (step >= 0) settle(&names[step]); }

static void folder_synced(int fd) {
    char link[32], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    long length = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
    if (length <= 0) return;
    for (int i = 0; i < name_total; i++)
        if (!strncmp(names[i].path, path, length) && !strchr(names[i].path + length + 1, '/'))
            settle(&names[i]);
}

static void flushed(int fd, int failed) {
    struct stat about;
    if (syscall(SYS_newfstatat, fd, "", &about, AT_EMPTY_PATH)) return;
    if (S_ISDIR(about.st_mode)) { if (!failed) folder_synced(fd); return; }
    struct file *file = file_of(fd);
    if (!file) return;
    for (struct page **place = &file->pages; *place;) {
        struct page *page = *place;
        if (failed) page->is_stuck = 1;
        if (page->is_stuck) { place = &page->next; continue; }
        *place = page->next;
        free(page);
    }
    if (!failed) file->durable_bytes = about.st_size;
}

void disk_synced(int fd) { pthread_mutex_lock(&lock); flushed(fd, 0); pthread_mutex_unlock(&lock); }
void disk_sync_failed(int fd) { pthread_mutex_lock(&lock); flushed(fd, 1); pthread_mutex_unlock(&lock); }

static unsigned long drawn(unsigned long *state) { /* xorshift64*; state 0 stays 0: all is lost */
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 2685821657736338717ul >> 33;
}

static void cut_file(struct file *file, unsigned long *state) {
    struct stat about;
    if (syscall(SYS_newfstatat, file->fd, "", &about, AT_EMPTY_PATH)) return;
    for (struct page *page = file->pages; page; page = page->next)
        for (int at = 0; at < PAGE; at += SECTOR)
            if (!*state || page->is_stuck || drawn(state) % 2)
                syscall(SYS_pwrite64, file->fd, page->content + at, (size_t)SECTOR, page->number * PAGE + at);
    int is_short = !*state || drawn(state) % 2;
    syscall(SYS_ftruncate, file->fd, is_short ? file->durable_bytes : about.st_size);
}

static void take_back(struct name *name) {
    if (name->act == CREATED) syscall(SYS_unlinkat, AT_FDCWD, name->path, 0);
    if (name->act == RENAMED) syscall(SYS_renameat2, AT_FDCWD, name->path, AT_FDCWD, name->from, 0);
    if (name->kept[0]) syscall(SYS_renameat2, AT_FDCWD, name->kept, AT_FDCWD, name->path, 0);
}

void disk_cut(unsigned long seed) {
    pthread_mutex_lock(&lock);
    for (struct file *file = files; file; file = file->next) cut_file(file, &seed);
    int stay = seed ? (int)(drawn(&seed) % (name_total + 1ul)) : 0;
    for (int i = name_total - 1; i >= stay; i--) take_back(&names[i]);
    pthread_mutex_unlock(&lock);
}
