/* A disk that fails: while the file $LAB_FAULT is there, calls on files that it names do (LD_PRELOAD).

   It holds one line: the number of an error, what fails (r reads, w writes, s syncs, o opens for writing), the
   begin of the names of the files, or * for all databases and what is beside them, and of how many such calls one
   fails. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_uint calls;

/* Set errno and return 1 where this call on a path is to fail; neither calls what is replaced below. */
static int fails(char kind, const char *path) {
    const char *place = getenv("LAB_FAULT"), *name = strrchr(path, '/');
    char line[256], kinds[8], begin[128];
    int before = errno, error = 0;
    unsigned every = 1;
    if (place == NULL) return 0;
    long file = syscall(SYS_openat, AT_FDCWD, place, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        errno = before;
        return 0;
    }
    long size = syscall(SYS_read, file, line, sizeof line - 1);
    syscall(SYS_close, file);
    errno = before;
    if (size <= 0) return 0;
    line[size] = 0;
    if (sscanf(line, "%d %7s %127s %u", &error, kinds, begin, &every) < 3 || every == 0) return 0;
    name = name == NULL ? path : name + 1;
    if (strchr(kinds, kind) == NULL) return 0;
    if (strcmp(begin, "*") == 0 ? strstr(name, ".db") == NULL : strncmp(name, begin, strlen(begin)) != 0) return 0;
    if (atomic_fetch_add(&calls, 1) % every != 0) return 0;
    errno = error;
    return 1;
}

static int fails_open(int descriptor, char kind) {
    char link[64], path[4096];
    int before = errno;
    if (getenv("LAB_FAULT") == NULL) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t size = readlink(link, path, sizeof path - 1);
    errno = before;
    if (size <= 0) return 0;
    path[size] = 0;
    return fails(kind, path);
}

#define REPLACED(TYPE, NAME, KIND, PARAMETERS, ...)                                   \
    TYPE NAME PARAMETERS {                                                            \
        static TYPE(*next) PARAMETERS;                                                \
        if (next == NULL) next = (TYPE(*) PARAMETERS)dlsym(RTLD_NEXT, #NAME);         \
        return fails_open(file, KIND) ? -1 : next(__VA_ARGS__);                       \
    }

REPLACED(ssize_t, read, 'r', (int file, void *to, size_t size), file, to, size)
REPLACED(ssize_t, pread, 'r', (int file, void *to, size_t size, off_t at), file, to, size, at)
REPLACED(ssize_t, pread64, 'r', (int file, void *to, size_t size, off64_t at), file, to, size, at)
REPLACED(ssize_t, write, 'w', (int file, const void *from, size_t size), file, from, size)
REPLACED(ssize_t, pwrite, 'w', (int file, const void *from, size_t size, off_t at), file, from, size, at)
REPLACED(ssize_t, pwrite64, 'w', (int file, const void *from, size_t size, off64_t at), file, from, size, at)
REPLACED(int, ftruncate, 'w', (int file, off_t size), file, size)
REPLACED(int, ftruncate64, 'w', (int file, off64_t size), file, size)
REPLACED(int, fsync, 's', (int file), file)
REPLACED(int, fdatasync, 's', (int file), file)

#define REPLACED_OPEN(NAME)                                                           \
    int NAME(const char *path, int flags, ...) {                                      \
        static int (*next)(const char *, int, ...);                                   \
        mode_t mode = 0;                                                              \
        if (flags & (O_CREAT | __O_TMPFILE)) {                                        \
            va_list given;                                                            \
            va_start(given, flags);                                                   \
            mode = va_arg(given, mode_t);                                             \
            va_end(given);                                                            \
        }                                                                             \
        if (next == NULL) next = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, #NAME); \
        if ((flags & O_ACCMODE) != O_RDONLY && fails('o', path)) return -1;           \
        return next(path, flags, mode);                                               \
    }

REPLACED_OPEN(open)
REPLACED_OPEN(open64)
