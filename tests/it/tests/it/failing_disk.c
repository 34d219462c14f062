/* Loaded before the C library: while the file named by LOCI_TEST_FAIL_SYNC exists, every sync of
 * this process fails with EIO, as on a disk that has begun to die. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static int fails(void) {
    const char *sign = getenv("LOCI_TEST_FAIL_SYNC");
    return sign != NULL && access(sign, F_OK) == 0;
}

int fsync(int fd) {
    if (fails()) { errno = EIO; return -1; }
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    return real(fd);
}

int fdatasync(int fd) {
    if (fails()) { errno = EIO; return -1; }
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    return real(fd);
}
