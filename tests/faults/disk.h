/* What of a folder's files is durable, and what a power cut now would lose; see disk.c. */
#include <sys/types.h>
#include <stddef.h>

void disk_track(const char *folder);
void disk_write(int fd, off_t at, size_t size);
void disk_truncate(const char *path, off_t size);
void disk_created(const char *path, int fd);
int disk_renaming(const char *from, const char *to);
int disk_unlinking(const char *path);
void disk_forget(int step);
void disk_synced(int fd);
void disk_sync_failed(int fd);
void disk_cut(unsigned long seed);
