/*===- tegula.h - the C interface of Tegula ----------------------*- C -*-===*\
|*
|* Opaque handles, status codes, and the text of the last error per thread.
|* libtegula-runtime has everything but tegula_compile, which is in
|* libtegula-jit. All functions may be called from any thread; one
|* tegula_args may be used by one thread at a time.
|*
|*     tegula_kernel *kernel;
|*     tegula_args *args;
|*     tegula_kernel_load(manifest, cubin, cubin_size, 0, &kernel);
|*     tegula_args_create(kernel, &args);
|*     int64_t shape[] = {2, 8, 300, 128};
|*     tegula_tensor q = {q_ptr, TEGULA_BF16, 4, shape, NULL};
|*     tegula_args_set_tensor(args, "q", &q);            ... k, v, o
|*     if (tegula_launch(kernel, args, stream, NULL) != TEGULA_OK)
|*       puts(tegula_last_error());
|*
\*===----------------------------------------------------------------------===*/
#ifndef TEGULA_H
#define TEGULA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef TEGULA_API
#define TEGULA_API __attribute__((visibility("default")))
#endif

typedef enum tegula_status {
  TEGULA_OK = 0,
  TEGULA_INVALID_ARGUMENT =
      1,                  /* an argument, a manifest or an image is wrong */
  TEGULA_UNAVAILABLE = 2, /* no driver, no GPU, another architecture,
                             or something to be prepared before capture */
  TEGULA_OUT_OF_MEMORY = 3,
  TEGULA_DRIVER_ERROR = 4,    /* a driver call failed */
  TEGULA_INTERNAL = 5,        /* a fault of Tegula */
  TEGULA_SOURCE_ERROR = 6,    /* the program text does not compile */
  TEGULA_ASSERTION_FAILED = 7 /* an assertion of the program did not hold */
} tegula_status;

typedef enum tegula_type {
  TEGULA_BOOL = 0,
  TEGULA_I8 = 1,
  TEGULA_U8 = 2,
  TEGULA_I16 = 3,
  TEGULA_I32 = 4,
  TEGULA_I64 = 5,
  TEGULA_F16 = 6,
  TEGULA_BF16 = 7,
  TEGULA_F32 = 8,
  TEGULA_F64 = 9
} tegula_type;

typedef enum tegula_form {
  TEGULA_PIPELINED = 0,
  TEGULA_DIRECT = 1
} tegula_form;

/* The kernels of one item: a pipelined one, a direct one, or both. */
typedef struct tegula_kernel tegula_kernel;
/* The arguments of one item, by name. May be launched many times. */
typedef struct tegula_args tegula_args;

/* A tensor in device memory: extents and strides in elements, in the order of
   the declaration. `strides` may be NULL for a row-major tensor. */
typedef struct tegula_tensor {
  void *data;
  int32_t type; /* a tegula_type */
  int32_t rank;
  const int64_t *sizes;
  const int64_t *strides;
} tegula_tensor;

/* Which kernel a launch took, and why not the preferred one. */
typedef struct tegula_launch_report {
  tegula_form form;
  char reason[256]; /* empty if it was the preferred one; may be cut */
} tegula_launch_report;

/* The message of the last call of this thread that failed; "" before. Valid
   until this thread's next failure. */
TEGULA_API const char *tegula_last_error(void);
/* "invalid argument", "driver error", ... */
TEGULA_API const char *tegula_status_name(tegula_status status);

/* How many GPUs there are. TEGULA_UNAVAILABLE if there is no driver. */
TEGULA_API tegula_status tegula_device_count(int *count);

/* Loads a kernel from its manifest (JSON text) and its image (cubin, or PTX) on
   GPU number `device`. The texts need not outlive the call. */
TEGULA_API tegula_status tegula_kernel_load(const char *manifest,
                                            const void *image,
                                            size_t image_size, int device,
                                            tegula_kernel **kernel);
/* As above with the direct kernel of the same item beside it, for operands that
   the first cannot take. */
TEGULA_API tegula_status tegula_kernel_load_pair(
    const char *manifest, const void *image, size_t image_size,
    const char *direct_manifest, const void *direct_image,
    size_t direct_image_size, int device, tegula_kernel **kernel);
/* A kernel as generated C sources embed it: its manifest and its code, as
   machine code and as PTX, each of which may be NULL. */
typedef struct tegula_code {
  const char *manifest;
  const void *cubin;
  size_t cubin_size;
  const char *ptx;
} tegula_code;

/* As above with all kernels of an item: the preferred one, then, in any order,
   those that there are of the direct one, the one whose manifest says that it
   is packed, and the one that goes before each launch of them. The machine code is taken where the driver accepts it, else
   the PTX. */
TEGULA_API tegula_status tegula_kernel_load_codes(const tegula_code *codes,
                                                  size_t num_codes, int device,
                                                  tegula_kernel **kernel);
/* Unloads. No launch may be running, and no captured graph may be used on. */
TEGULA_API void tegula_kernel_destroy(tegula_kernel *kernel);

/* Loads all that a launch on `stream` (a CUstream or cudaStream_t) could need;
   do this before the first launch inside a capture. */
TEGULA_API tegula_status tegula_kernel_prepare(tegula_kernel *kernel,
                                               void *stream);

TEGULA_API tegula_status tegula_args_create(const tegula_kernel *kernel,
                                            tegula_args **args);
TEGULA_API void tegula_args_destroy(tegula_args *args);
/* `tensor` NULL marks an optional output as not wanted. */
TEGULA_API tegula_status tegula_args_set_tensor(tegula_args *args,
                                                const char *name,
                                                const tegula_tensor *tensor);
TEGULA_API tegula_status tegula_args_set_int(tegula_args *args,
                                             const char *name, int64_t value);
TEGULA_API tegula_status tegula_args_set_float(tegula_args *args,
                                               const char *name, double value);

/* The bytes of GPU memory that a launch of these arguments needs beside its
   tensors: 0, or what a pre-pass finds of the blocks of its mask. */
TEGULA_API tegula_status tegula_scratch_size(const tegula_kernel *kernel,
                                             const tegula_args *args,
                                             size_t *size);
/* Gives launches of `args` that memory. No two launches that may run at the
   same time may have the same. NULL, as at first: each launch takes and frees
   its own, in the order of its stream. */
TEGULA_API tegula_status tegula_args_set_scratch(tegula_args *args, void *data,
                                                 size_t size);

/* Which kernel a launch would take. */
TEGULA_API tegula_status tegula_choose(const tegula_kernel *kernel,
                                       const tegula_args *args,
                                       tegula_launch_report *report);
/* Enqueues the kernel on `stream`; allocates and synchronises nothing, but that
   a kernel with counters on the GPU allocates more of them for its 65th, 129th,
   257th, ... stream or captured launch, and one with a pre-pass takes scratch
   memory in the order of the stream where `args` have none: a graph of such a
   launch allocates when it runs, and has one executable instance at a time. `report` may be NULL. */
TEGULA_API tegula_status tegula_launch(const tegula_kernel *kernel,
                                       const tegula_args *args, void *stream,
                                       tegula_launch_report *report);

/* Waits for `stream`, and gives the number of rows that its launches so far
   computed a second time, as a check of the first result failed; captured
   launches are not counted. Starts again at 0 after 2^32 - 1.
   TEGULA_UNAVAILABLE while `stream` is being captured. */
TEGULA_API tegula_status tegula_redone_rows(const tegula_kernel *kernel,
                                            void *stream, uint32_t *rows);

/* As above, of a kernel that was compiled to be debugged: the blocks of keys
   that its launches visited, each once for each tile of queries, with the
   element mask (`partial`) and without (`full`). 0 for any other kernel.
   `tegula explain` says what they have to be. */
TEGULA_API tegula_status tegula_visits(const tegula_kernel *kernel,
                                       void *stream, uint64_t *partial,
                                       uint64_t *full);

/* One argument of an item, for tegula_launch_values. */
typedef union tegula_value {
  /* The extents follow from the dims; `strides` NULL is row-major; `data` NULL
     skips an optional output. */
  struct {
    const void *data;
    const int64_t *strides;
  } tensor;
  int64_t integer; /* a scalar of an integer type, or bool */
  double real;     /* a scalar of f32 or f64 */
} tegula_value;

/* What generated C sources call: as tegula_launch, with all arguments in the
   order of the manifest's `signature`, and the dims in the order of its `dims`.
 */
TEGULA_API tegula_status tegula_launch_values(const tegula_kernel *kernel,
                                              const tegula_value *values,
                                              size_t num_values,
                                              const int64_t *dims,
                                              size_t num_dims, void *stream,
                                              tegula_launch_report *report);

/* Memory and streams of a GPU, for programs that have no CUDA toolkit; others
   pass their own pointers and streams to the functions above. */
typedef struct tegula_stream tegula_stream;
typedef struct tegula_buffer tegula_buffer;

TEGULA_API tegula_status tegula_stream_create(int device,
                                              tegula_stream **stream);
TEGULA_API void tegula_stream_destroy(tegula_stream *stream);
/* The CUstream. */
TEGULA_API void *tegula_stream_handle(const tegula_stream *stream);
/* Waits for all that was enqueued; reports faults of kernels, too. */
TEGULA_API tegula_status tegula_stream_synchronize(const tegula_stream *stream);

TEGULA_API tegula_status tegula_buffer_create(int device, size_t size,
                                              tegula_buffer **buffer);
TEGULA_API void tegula_buffer_destroy(tegula_buffer *buffer);
/* The address on the GPU. */
TEGULA_API void *tegula_buffer_data(const tegula_buffer *buffer);
/* Copies `size` bytes to or from the start of the buffer and waits for it. */
TEGULA_API tegula_status tegula_buffer_write(tegula_buffer *buffer,
                                             const void *from, size_t size,
                                             const tegula_stream *stream);
TEGULA_API tegula_status tegula_buffer_read(const tegula_buffer *buffer,
                                            void *to, size_t size,
                                            const tegula_stream *stream);

/* What to compile, for tegula_compile. Zero is right for all but `source`. */
typedef struct tegula_compile_options {
  const char *source;         /* the text of a .tg file */
  const char *file_name;      /* for diagnostics */
  const char *item;           /* NULL: the only one */
  const char *const *defines; /* "NAME=VALUE" */
  size_t num_defines;
  const char *const *schedule; /* "FIELD=VALUE" */
  size_t num_schedule;
  const char *arch; /* NULL: that of the device */
  int device;
  /* Not 0: check at each launch what the program claims of its arguments:
     tensors that are `sorted` or `in` a range, indices inside of tables. Where
     a claim is wrong, the next call that waits for the stream reports
     CUDA_ERROR_ASSERT, and standard output says which one. The kernels then
     count their visits of blocks of keys, too: see tegula_visits. */
  int debug;
  /* Not 0: `tanh` on a GPU by its instruction, whose relative error is 2^-11. */
  int approximate_tanh;
} tegula_compile_options;

/* Compiles a program and loads it. What was compiled before by this process
   comes from memory. In libtegula-jit. */
TEGULA_API tegula_status tegula_compile(const tegula_compile_options *options,
                                        tegula_kernel **kernel);

#ifdef __cplusplus
}
#endif

#endif /* TEGULA_H */
