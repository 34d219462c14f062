/* Loaded before the C library: keeps beside a directory what a power loss would leave of it.
 *
 * LOCI_TEST_DISK names the directory, LOCI_TEST_DISK_KEPT the one beside it. A file gets into the
 * second when it is synced, with all its bytes as they are then; what was written, cut or removed
 * since its last sync is not there. A removal counts once the directory itself is synced. Only files
 * right in the directory are kept. No sync reaches the disk below, so the test is as fast as it can be.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void broken(const char *what) {
    perror(what);
    abort();
}

/* Copies all bytes of a file, which is put in its place only when it is whole. */
static void keep_file(int fd, const char *path, const char *kept, const char *name) {
    char whole[4096], part[4096], buffer[65536];
    snprintf(whole, sizeof whole, "%s/%s", kept, name);
    snprintf(part, sizeof part, "%s/%s.part", kept, name);
    int to = open(part, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (to < 0) broken("power_loss: open");
    /* Closing another descriptor of a file would drop the locks that the process has on it, so only
     * a file that cannot be read by its own is opened again. */
    int from = fd, again = -1;
    if (pread(fd, buffer, 1, 0) < 0) {
        again = from = open(path, O_RDONLY);
        if (again < 0) broken("power_loss: open again");
    }
    off_t at = 0;
    ssize_t got;
    while ((got = pread(from, buffer, sizeof buffer, at)) > 0) {
        if (write(to, buffer, (size_t)got) != got) broken("power_loss: write");
        at += got;
    }
    if (got < 0) broken("power_loss: read");
    if (again >= 0) close(again);
    close(to);
    if (rename(part, whole) != 0) broken("power_loss: rename");
}

/* Removes what was removed from the directory. */
static void keep_names(const char *disk, const char *kept) {
    DIR *dir = opendir(kept);
    if (dir == NULL) broken("power_loss: opendir");
    struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        char there[4096], copy[4096];
        if (entry->d_name[0] == '.') continue;
        snprintf(there, sizeof there, "%s/%s", disk, entry->d_name);
        snprintf(copy, sizeof copy, "%s/%s", kept, entry->d_name);
        if (access(there, F_OK) != 0 && strstr(entry->d_name, ".part") == NULL) unlink(copy);
    }
    closedir(dir);
}

static int keep(int fd) {
    const char *disk = getenv("LOCI_TEST_DISK"), *kept = getenv("LOCI_TEST_DISK_KEPT");
    if (disk == NULL || kept == NULL) return 0;
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    size_t prefix = strlen(disk);
    if (strncmp(path, disk, prefix) != 0) return 0;
    if (path[prefix] == 0) {
        keep_names(disk, kept);
        return 1;
    }
    struct stat found;
    const char *name = path + prefix + 1;
    if (path[prefix] != '/' || strchr(name, '/') != NULL) return 0;
    /* A file without a name is gone after a power loss. */
    if (fstat(fd, &found) != 0 || !S_ISREG(found.st_mode) || found.st_nlink == 0) return 1;
    keep_file(fd, path, kept, name);
    return 1;
}

static int sync_of(const char *name, int fd) {
    if (keep(fd)) return 0;
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    return real(fd);
}

int fsync(int fd) { return sync_of("fsync", fd); }

int fdatasync(int fd) { return sync_of("fdatasync", fd); }
