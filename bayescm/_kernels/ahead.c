/* What Numba's machine code calls, without Python: its allocator (MemInfo as in numba/core/runtime/nrt.cpp), helpers. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#define HIDDEN __attribute__((visibility("hidden")))
#define HEAD 64             /* at least sizeof(MemInfo) */
#define MOST (SIZE_MAX / 4) /* bytes that malloc is asked for */

typedef void (*Destructor)(void *, size_t, void *);
typedef struct {
    size_t references;
    Destructor destructor;
    void *destructor_info, *data;
    size_t size;
    void *allocator;
} MemInfo;

const char bayescm_manifest[] = MANIFEST;

int bayescm_supports_v3(void) {
#ifdef __x86_64__
    return __builtin_cpu_supports("x86-64-v3") != 0;
#else
    return 0;
#endif
}

HIDDEN void *NRT_Allocate(size_t size) { return size < MOST ? malloc(size ? size : 1) : NULL; }

HIDDEN void NRT_Free(void *pointer) { free(pointer); }

static MemInfo *filled(MemInfo *info, void *data, size_t size) {
    *info = (MemInfo){.references = 1, .data = data, .size = size};
    return info;
}

HIDDEN void *NRT_MemInfo_alloc(size_t size) {
    char *base = size < MOST ? malloc(HEAD + size) : NULL;
    return base ? filled((MemInfo *)base, base + HEAD, size) : NULL;
}

HIDDEN void *NRT_MemInfo_alloc_aligned(size_t size, unsigned align) {
    char *base = size < MOST ? malloc(HEAD + size + align) : NULL;
    uintptr_t data = (uintptr_t)base + HEAD;
    return base ? filled((MemInfo *)base, (void *)(data + (align - data % align) % align), size) : NULL;
}

/* A list: its data has room of its own, which may be moved. */
static void free_list(void *data, size_t size, void *destructor) {
    (void)size;
    if (destructor) ((void (*)(void *))destructor)(data);
    free(data);
}

HIDDEN void *NRT_MemInfo_new_varsize_dtor(size_t size, void *destructor) {
    void *data = NRT_Allocate(size);
    MemInfo *info = data ? malloc(HEAD) : NULL;
    if (!info) {
        free(data);
        return NULL;
    }
    filled(info, data, size)->destructor = free_list;
    info->destructor_info = destructor;
    return info;
}

HIDDEN void *NRT_MemInfo_varsize_realloc(MemInfo *info, size_t size) {
    void *data = size < MOST ? realloc(info->data, size) : NULL;
    if (data) {
        info->data = data;
        info->size = size;
    }
    return data;
}

HIDDEN void NRT_MemInfo_call_dtor(MemInfo *info) {
    if (info->destructor) info->destructor(info->data, info->size, info->destructor_info);
    free(info);
}

/* Give back an array that a kernel returned. */
void bayescm_release(MemInfo *info) {
    if (info && --info->references == 0) NRT_MemInfo_call_dtor(info);
}

HIDDEN double numba_nextafter(double x, double y) { return nextafter(x, y); }

/* Contiguous arrays only: all that the kernels reshape. */
HIDDEN int numba_attempt_nocopy_reshape(intptr_t ndim, const intptr_t *dims, const intptr_t *strides, intptr_t new_ndim,
                                        const intptr_t *new_dims, intptr_t *new_strides, intptr_t itemsize, int fortran) {
    intptr_t size = itemsize, step = itemsize;
    for (intptr_t i = ndim - 1; i >= 0; i--) {
        if (dims[i] != 1 && strides[i] != size) return 0;
        size *= dims[i];
    }
    for (intptr_t i = new_ndim - 1; i >= 0; i--) {
        new_strides[i] = step;
        step *= new_dims[i];
    }
    return !fortran && step == size;
}

/* Only what turns a kernel's error into Python's calls these, and that is never called: the status says it. */
HIDDEN void *PyExc_RuntimeError;
HIDDEN void PyErr_SetString(void *type, const char *text) { (void)type, (void)text; }
