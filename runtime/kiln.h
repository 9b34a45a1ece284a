/* The C interface of a package that `kiln build` wrote: find the kernel of a workload, learn its sizes, pack the
 * weights once, run it on your memory.
 *
 * C99, usable from C++. A package exports one function, `const kiln_package *NAME_package(void)` (in NAME.h);
 * everything else is reached through what it answers, so that any number of packages, of different versions too, live
 * in one program without their symbols meeting.
 *
 *   kiln_descriptor d;                              const kiln_kernel *kernel;
 *   kiln_descriptor_init(&d, KILN_CONV, 2);         kiln_status s = kiln_find(NAME_package(), &d, &kernel);
 *   d.batch = 1, d.channels = 64, ...               if (s.code != KILN_OK) puts(s.detail);
 *
 *   kiln_arguments a;
 *   kiln_arguments_init(&a);
 *   a.input = kiln_tensor_dense(x, KILN_F32, 4, shape), ...
 *   a.packed = ..., a.packed_bytes = kiln_info(kernel)->packed_bytes;
 *   a.workspace = ..., a.workspace_bytes = kiln_workspace_bytes(kernel, 1);
 *   s = kiln_pack(kernel, &a);                      once, when the weights are loaded
 *   s = kiln_run(kernel, &a);                       as often as you like, from any number of threads
 *
 * A package of a network also exports `const kiln_network *NAME_network(void)`, see "Networks" below:
 *
 *   kiln_weights w;                   kiln_bound_network bound;
 *   s = kiln_map_weights(NAME_network(), "NAME.weights", &w);
 *   s = kiln_bind_network(NAME_network(), w.data, w.bytes, &bound);
 *   kiln_network_arguments a;
 *   kiln_network_arguments_init(&a);
 *   a.inputs = ..., a.outputs = ..., a.workspace = ..., a.workspace_bytes = ...;
 *   s = kiln_run_network(&bound, &a);               as often as you like, from any number of threads
 *
 * A package that was built with --fallback also computes convolutions that nobody tuned: kiln_find_or_fallback.
 *
 * Ownership: all memory is the caller's. Packages, kernels and their information are constants of the library. Nothing
 * here allocates or locks, except kiln_pool_create and kiln_pool_destroy; kiln_map_weights and kiln_load_weights, which
 * map or read a file; and runs with a kiln_pool, which take its lock where they wake threads that sleep. A call that is
 * refused has not touched any memory. Two calls may run at the same time unless they share a written buffer: output,
 * workspace.
 *
 * Stability: functions and numbers are only ever added, and numbers never change. Structures that begin with their
 * struct_size grow, at their end only; all others stay as they are. The _init functions write the size of those that
 * callers fill.
 *   A library takes structures of programs that were compiled with an older kiln.h, from that of kiln 0.1.0 on: what they
 *   lack is zero, the default of every field that comes later. So a libNAME.so may be replaced by one of a newer kiln.
 *   It refuses those that are longer than its own (KILN_BAD_VERSION): a program with a newer kiln.h than its library.
 *   What a package answers ends at its struct_size; a newer kiln.h has more fields than an older library wrote.
 * A translation unit has one kiln.h: that of the package whose header it includes first. Where packages are of several
 * versions, include the oldest one's first. */
#ifndef KILN_H
#define KILN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KILN_INTERFACE_VERSION 1

enum { KILN_MAX_SPATIAL_RANK = 3, KILN_MAX_RANK = 6, KILN_MAX_EPILOGUE = 8, KILN_MAX_LAYOUT_NAME = 16 };

/* Status ------------------------------------------------------------------------------------------------------- */

enum {
    KILN_OK = 0,
    KILN_NULL_ARGUMENT = 1,
    KILN_BAD_VERSION = 2, /* a structure's struct_size is none that this package knows: see "Stability" */
    KILN_BAD_DESCRIPTOR = 3,
    KILN_NOT_FOUND = 4,       /* the package has no kernel for the workload */
    KILN_UNSUPPORTED_CPU = 5, /* it has, but none that this CPU (or its operating system) can run */
    KILN_BAD_DTYPE = 6,
    KILN_BAD_RANK = 7,
    KILN_BAD_SHAPE = 8,
    KILN_BAD_STRIDE = 9,
    KILN_BAD_DEVICE = 10,
    KILN_BAD_ALIGNMENT = 11,
    KILN_BUFFER_TOO_SMALL = 12,
    KILN_OVERLAP = 13,
    KILN_BAD_THREADS = 14,
    KILN_NO_RESOURCES = 15,  /* the system refused memory or threads */
    KILN_KERNEL_FAILED = 16, /* the output is undefined; a kernel that kiln has checked does not do this */
    KILN_BAD_WEIGHTS = 17,   /* no weights of kiln's, cut, damaged, or of another version of the format */
    KILN_OTHER_WEIGHTS = 18, /* weights of another build, or of another network */
    KILN_CANNOT_READ = 19,   /* the system does not give the file */
    KILN_BAD_VALUE = 20      /* an operand that says how numbers are quantized has a value out of its range */
};

enum {
    KILN_NO_OPERAND = -1,
    KILN_INPUT = 0,
    KILN_WEIGHTS = 1,
    KILN_BIAS = 2,
    KILN_ADDEND = 3,
    KILN_OUTPUT = 4,
    KILN_PACKED = 5,
    KILN_PREPARED = 6,
    KILN_WORKSPACE = 7,
    KILN_OPERAND_1 = 8, /* operands of a nest; its first is KILN_INPUT */
    KILN_OPERAND_2 = 9,
    KILN_OPERAND_3 = 10,
    KILN_OPERAND_4 = 11,
    KILN_OPERAND_5 = 12,
    KILN_OPERAND_6 = 13,
    KILN_OPERAND_7 = 14,
    KILN_SLOPE = 15,
    KILN_INPUT_ZERO_POINT = 16, /* of quantized convolutions, as the following */
    KILN_KERNEL_ZERO_POINT = 17,
    KILN_MULTIPLIER = 18,
    KILN_SHIFT = 19,
    KILN_SCALE = 20,
    KILN_OUTPUT_ZERO_POINT = 21,
    KILN_RESULT_BOUNDS = 22,
    KILN_ADDEND_ZERO_POINT = 23,
    KILN_ADDITION_MULTIPLIER = 24,
    KILN_ADDITION_SHIFT = 25,
    KILN_ADDITION_FACTORS = 26,
    KILN_ADDITION_ZERO_POINT = 27,
    KILN_ADDITION_BOUNDS = 28,
    KILN_FACTOR = 29,
    KILN_INPUT_FACTOR = 30, /* of a prologue */
    KILN_INPUT_BIAS = 31,
    KILN_DEPTHWISE_KERNEL = 32 /* of a depthwise convolution in front of one of 1x1 */
};

typedef struct kiln_status {
    int32_t code;
    int16_t operand;    /* which argument was wrong, or KILN_NO_OPERAND */
    int16_t dimension;  /* of a wrong shape or stride, else -1 */
    const char *detail; /* a constant sentence, never null */
} kiln_status;

/* Workload ----------------------------------------------------------------------------------------------------- */

enum {
    KILN_CONV = 1,
    KILN_CONV_BACKPROP_INPUT = 2,
    KILN_CONV_BACKPROP_KERNEL = 3,
    KILN_SPACE_TO_DEPTH = 4,
    KILN_DEPTH_TO_SPACE = 5,
    KILN_LAYOUT_TRANSFORM = 6,
    KILN_WINOGRAD_INPUT_TRANSFORM = 7,
    KILN_WINOGRAD_FILTER_TRANSFORM = 8,
    KILN_WINOGRAD_OUTPUT_TRANSFORM = 9,
    KILN_NEST = 10
};
enum { KILN_F32 = 1, KILN_F16 = 2, KILN_BF16 = 3, KILN_I8 = 4, KILN_I32 = 5 };
/* KILN_U8 also of quantized convolutions and moved data; the others of inputs and outputs of networks only. KILN_BOOL has a
 * byte, 0 or 1. */
enum {
    KILN_F64 = 6,
    KILN_U8 = 7,
    KILN_I16 = 8,
    KILN_U16 = 9,
    KILN_U32 = 10,
    KILN_I64 = 11,
    KILN_U64 = 12,
    KILN_BOOL = 13
};
enum { KILN_NHWC = 1, KILN_NCHW = 2, KILN_NCHWC = 3 }; /* of every spatial rank; NCHWC has blocks of channels */
enum { KILN_HWIO = 1, KILN_HWOI = 2 };
/* Steps of an epilogue, functions of the sum x; sigmoid(x) = 1 / (1 + exp(-x)). */
enum {
    KILN_EPILOGUE_BIAS = 1,         /* x + bias[channel] */
    KILN_EPILOGUE_ADD = 2,          /* x + addend; see below behind a requantization */
    KILN_EPILOGUE_RELU = 3,         /* x < 0 ? 0 : x */
    KILN_EPILOGUE_CLAMP = 4,        /* x < lo ? lo : x > hi ? hi : x; a bound may be infinite */
    KILN_EPILOGUE_LEAKY_RELU = 5,   /* x < 0 ? lo * x : x */
    KILN_EPILOGUE_HARD_SIGMOID = 6, /* lo * x + hi, at least 0 and at most 1 */
    KILN_EPILOGUE_HARD_SWISH = 7,   /* x times hard sigmoid of x with lo = 1/6, hi = 1/2 */
    KILN_EPILOGUE_SIGMOID = 8,
    KILN_EPILOGUE_TANH = 9,
    KILN_EPILOGUE_SILU = 10,      /* x * sigmoid(x) */
    KILN_EPILOGUE_GELU = 11,      /* x * (1 + erf(x / sqrt(2))) / 2 */
    KILN_EPILOGUE_GELU_TANH = 12, /* x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))) / 2 */
    KILN_EPILOGUE_PRELU = 13,     /* x < 0 ? slope[channel] * x : x */
    /* A step of a quantized convolution, of the sum x in i32; r = output_zero_point, with saturation to result_bounds:
     * high(x) = floor((x * 2^l * multiplier + 2^30) / 2^31) of the channel's multiplier and shift, l = max(shift, 0), then
     * divided by 2^max(-shift, 0) and rounded, halves away from zero; plus r. Before, x is clamped to -m - 1 and m, with
     * m = floor((2^31 - 1) / 2^l), so that x * 2^l is an i32. */
    KILN_EPILOGUE_REQUANTIZE_LITERT = 14,
    KILN_EPILOGUE_REQUANTIZE_ONNX = 15, /* x * scale[channel] in f32, rounded, halves to even; plus r */
    /* KILN_EPILOGUE_ADD may follow, of its result q; s = addition_zero_point, with saturation to addition_bounds. Behind
     * _LITERT h(h((q - output_zero_point) * 2^20, 0) + h((addend - addend_zero_point) * 2^20, 1), 2) + s, where h(x, i) is as above
     * of addition_multiplier[i] and addition_shift[i]. Behind _ONNX q * addition_factors[0] + addend * addition_factors[1] +
     * addition_factors[2], each step in f32, rounded, halves to even; plus s. */
    KILN_EPILOGUE_AFFINE = 16, /* lo * x + hi */
    KILN_EPILOGUE_SCALE = 17   /* x * factor[channel] */
};
enum {
    KILN_FINITE = 1, /* operands are finite */
    KILN_EXACT = 2   /* NaN and Inf propagate as in the definition */
};

typedef struct kiln_epilogue_step {
    int32_t kind;
    float lo, hi; /* the numbers of a step that has some, as above; they do not count in others */
} kiln_epilogue_step;

/* What to compute. Sizes are those of the forward convolution, also for its gradients, and do not depend on the layout;
 * semantics are those of XLA's ConvGeneralDilated: y[n,p,o] = sum k[r,i,o] * x[n, p*stride + r*rhs_dilation - lo, i].
 * Only the first `spatial_rank` entries of arrays count. */
typedef struct kiln_descriptor {
    size_t struct_size;
    int32_t operation, spatial_rank;
    int32_t dtype, output_dtype;
    int64_t batch, spatial[KILN_MAX_SPATIAL_RANK], channels;
    int64_t kernel[KILN_MAX_SPATIAL_RANK], output_channels;
    int64_t strides[KILN_MAX_SPATIAL_RANK];
    int64_t padding_lo[KILN_MAX_SPATIAL_RANK], padding_hi[KILN_MAX_SPATIAL_RANK];
    int64_t lhs_dilation[KILN_MAX_SPATIAL_RANK], rhs_dilation[KILN_MAX_SPATIAL_RANK];
    int64_t feature_group_count, batch_group_count;
    int32_t input_layout, input_layout_block; /* block: channels, only for KILN_NCHWC */
    int32_t output_layout, output_layout_block;
    int32_t kernel_layout, special_values;
    int32_t epilogue_count, reserved;
    kiln_epilogue_step epilogue[KILN_MAX_EPILOGUE];                          /* in order */
    int64_t block[KILN_MAX_SPATIAL_RANK];                                    /* space_to_depth, depth_to_space */
    char from_layout[KILN_MAX_LAYOUT_NAME], to_layout[KILN_MAX_LAYOUT_NAME]; /* layout_transform */
    /* Winograd transforms. `spatial` of the output transform counts tiles; the filter transform has no batch or
     * spatial, its `channels` are the input channels; `kernel` is the window of all three. */
    int64_t tile[KILN_MAX_SPATIAL_RANK];   /* outputs of a tile */
    int64_t output[KILN_MAX_SPATIAL_RANK]; /* what the output transform writes; 0: the whole tiles */
    int32_t tile_dimensions[2];            /* positions of the tile's two dimensions in the transformed tensor */
    int32_t points;                        /* choice of interpolation points */
    int32_t without_batch;                 /* 1: tensors have no dimension for the batch, which is 1 */
    uint64_t nest; /* KILN_NEST: a hash; nests are looked up by key (kiln_find_key), spatial_rank is 1 */
    /* Of a convolution with dtype KILN_I8 or KILN_U8; they do not count in others. */
    int32_t kernel_dtype;      /* of the weights, KILN_I8 or KILN_U8; 0: KILN_I8 */
    int32_t kernel_zero_point; /* 1: weights have zero points, an operand of each call; 0: theirs is 0 */
    /* Steps of each element of the input before it is multiplied; padding stays 0. KILN_EPILOGUE_SCALE takes input_factor,
     * KILN_EPILOGUE_BIAS input_bias; ADD, PRELU and requantizations are no steps of a prologue. */
    int32_t prologue_count, reserved_too;
    kiln_epilogue_step prologue[KILN_MAX_EPILOGUE];
    /* The window of a depthwise convolution in front of one of 1x1, outermost first; 0: there is none. Strides, padding and
     * rhs_dilation are its own, and the prologue's steps are of its result. */
    int64_t depthwise[KILN_MAX_SPATIAL_RANK];
} kiln_descriptor;

/* Every field that has a default at its default: f32, NHWC, HWIO, strides and dilations 1, no padding, one group, no
 * epilogue, tiles outermost. Sizes are 0 and must be filled in. */
static inline void kiln_descriptor_init(kiln_descriptor *d, int32_t operation, int32_t spatial_rank) {
    int i;
    memset(d, 0, sizeof *d);
    d->struct_size = sizeof *d;
    d->operation = operation;
    d->spatial_rank = spatial_rank;
    d->dtype = d->output_dtype = KILN_F32;
    for (i = 0; i < spatial_rank && i < KILN_MAX_SPATIAL_RANK; i++) {
        d->strides[i] = d->lhs_dilation[i] = d->rhs_dilation[i] = 1;
    }
    d->feature_group_count = d->batch_group_count = 1;
    d->input_layout = d->output_layout = KILN_NHWC;
    d->kernel_layout = KILN_HWIO;
    d->special_values = KILN_FINITE;
    d->tile_dimensions[1] = 1; /* the outermost two */
}

/* Tensors and arguments ---------------------------------------------------------------------------------------- */

enum { KILN_HOST = 0 };

/* Dimensions as stored, outermost first; strides in elements, all zero for a dense tensor. A nest's tensor with
 * more than KILN_MAX_RANK has the outermost ones joined to one. Data needs the alignment of one element; cache lines
 * (kiln_info()->alignment) are fastest. */
typedef struct kiln_tensor {
    void *data;
    int32_t dtype, rank;
    int64_t shape[KILN_MAX_RANK], strides[KILN_MAX_RANK];
    int32_t device, reserved; /* KILN_HOST; others may come */
    void *stream;             /* null; for devices that may come */
} kiln_tensor;

static inline kiln_tensor kiln_tensor_dense(const void *data, int32_t dtype, int32_t rank, const int64_t *shape) {
    kiln_tensor t;
    int i;
    memset(&t, 0, sizeof t);
    t.data = (void *)data;
    t.dtype = dtype;
    t.rank = rank;
    for (i = 0; i < rank && i < KILN_MAX_RANK; i++) t.shape[i] = shape[i];
    return t;
}

/* How parallel loops run: `run` calls task(argument, index, thread) for every index in [0, count), with thread in
 * [0, threads), each thread one task at a time, and returns when all are done. A task with another number of a thread does
 * nothing, and the call fails (KILN_KERNEL_FAILED). kiln_pool_create makes one; a program with threads of its own fills
 * one in. */
typedef void (*kiln_task)(void *argument, int index, int thread);
typedef struct kiln_parallel {
    void (*run)(void *pool, int count, kiln_task task, void *argument);
    void *pool;
    int threads;
} kiln_parallel;

/* Operands by role. Gradients take theirs in the order of the definition: dy as input and the kernel as weights for
 * conv_backprop_input, x as input and dy as weights for conv_backprop_kernel. Transforms take one operand: the input,
 * or the weights for winograd_filter_transform.
 *   pack     weights -> packed             prepare  input -> prepared
 *   run      input, weights and the others -> output; packed instead of weights where the kernel has a packed form,
 *            and prepared instead of input where it has a prepared form. What a kernel does not use is not looked at.
 * The same arguments may be kept for all calls. */
typedef struct kiln_arguments {
    size_t struct_size;
    kiln_tensor input, weights;
    kiln_tensor bias;   /* f32 (i32 if quantized), one element for each output channel */
    kiln_tensor addend; /* like the output */
    kiln_tensor output;
    void *packed, *prepared; /* aligned to kiln_info()->alignment */
    size_t packed_bytes, prepared_bytes;
    void *workspace; /* scratch memory of any alignment */
    size_t workspace_bytes;
    const kiln_parallel *parallel; /* null: the calling thread alone */
    /* Of a nest, beside the input; those of tables of indices are i32. */
    kiln_tensor operand_1, operand_2, operand_3, operand_4, operand_5, operand_6, operand_7;
    kiln_tensor slope; /* like the bias */
    /* Of a quantized convolution: stored numbers stand for (stored - zero point) * scale. Calls check their values
     * (KILN_BAD_VALUE), and that no bias takes a sum beyond i32. */
    kiln_tensor input_zero_point;  /* i32, one element; padding is this */
    kiln_tensor kernel_zero_point; /* i32, one for each output channel; where the descriptor has it */
    kiln_tensor multiplier, shift; /* i32, one for each output channel, from 0 on and -31 to 30; requantize_litert */
    kiln_tensor scale;             /* f32, one for each output channel, finite, from 0 on; requantize_onnx */
    kiln_tensor output_zero_point; /* i32, one element */
    kiln_tensor result_bounds; /* i32, the smallest and the largest result: the ends of the dtype, a ReLU, a clamp */
    /* Where KILN_EPILOGUE_ADD follows. */
    kiln_tensor addend_zero_point;                   /* i32, one element; requantize_litert */
    kiln_tensor addition_multiplier, addition_shift; /* i32, three each, from 0 on and -31 to 0; requantize_litert */
    kiln_tensor addition_factors;                    /* f32, three, from -2^64 to 2^64; requantize_onnx */
    kiln_tensor addition_zero_point;                 /* i32, one element */
    kiln_tensor addition_bounds;                     /* i32, the smallest and the largest result */
    kiln_tensor factor;                              /* like the bias */
    kiln_tensor input_factor, input_bias;            /* f32, one for each input channel; of a prologue */
    kiln_tensor depthwise_kernel; /* spatial..., 1, C or spatial..., C, 1 as kernel_layout says; `depthwise` */
} kiln_arguments;

static inline void kiln_arguments_init(kiln_arguments *a) {
    memset(a, 0, sizeof *a);
    a->struct_size = sizeof *a;
}

/* Packages and kernels ----------------------------------------------------------------------------------------- */

/* What is known about a kernel. Texts are constants, empty where there is nothing to say. */
typedef struct kiln_kernel_info {
    size_t struct_size;
    const char *key;         /* the workload's text, "conv2d/input:1x56x56x64/kernel:3x3x64x64/padding:1,1x1,1" */
    const char *name;        /* what the workload list called it; need not be unique */
    const char *candidate;   /* algorithm, schedule and knobs */
    const char *trial;       /* id of the trial in the database; empty for a default candidate */
    const char *object_hash; /* of the machine code */
    const char *target;      /* what it was compiled for, a Halide target string */
    int32_t tuned;           /* 1: the best of measured trials; 0: the default candidate */
    int32_t threads;         /* number of threads it was chosen for; it runs with any number */
    size_t packed_bytes;     /* 0: the kernel takes plain weights */
    size_t prepared_bytes;   /* 0: the kernel takes the plain input */
    size_t alignment;        /* of packed and prepared; recommended for all */
    uint64_t cpu_features;   /* that it needs, see kiln_cpu_features */
    double median_ns;        /* time of one call when it was measured; 0 where it was not */
    const kiln_descriptor *workload;
    int32_t place; /* 0: the first choice among the kernels of its workload; the first that the CPU runs is used */
    int32_t reserved;
    const char *why_place; /* a sentence */
} kiln_kernel_info;

typedef struct kiln_package kiln_package;

/* Handles are constants of the library, but for those that kiln_find_or_fallback makes in the caller's memory; never
 * null after KILN_OK; only the functions below look inside. */
typedef struct kiln_kernel {
    const kiln_package *package;
} kiln_kernel;

/* Memory of the caller's for one kernel that kiln_find_or_fallback makes: opaque, needs neither initialization nor
 * release. The kernel lies in it and points into it, so it stays where it is, unchanged, for as long as the kernel is
 * in use. Programs keep one for each descriptor, as they keep the kernels that they found. */
typedef struct kiln_fallback {
    uint64_t memory[384];
} kiln_fallback;

/* What a package consists of. Callers use the functions below. */
struct kiln_package {
    size_t struct_size;
    int32_t interface_version;
    int32_t reserved;
    const char *name;
    const char *toolchain; /* every compiler that had a hand in it */
    const void *table;     /* private */
    uint64_t (*cpu_features)(void);
    kiln_status (*find)(const kiln_package *, const kiln_descriptor *, uint64_t cpu_features, const kiln_kernel **);
    kiln_status (*find_key)(const kiln_package *, const char *key, uint64_t cpu_features, const kiln_kernel **);
    size_t (*kernel_count)(const kiln_package *);
    const kiln_kernel *(*kernel_at)(const kiln_package *, size_t);
    const kiln_kernel_info *(*info)(const kiln_kernel *);
    size_t (*workspace_bytes)(const kiln_kernel *, int threads);
    kiln_status (*pack)(const kiln_kernel *, const kiln_arguments *);
    kiln_status (*prepare)(const kiln_kernel *, const kiln_arguments *);
    kiln_status (*run)(const kiln_kernel *, const kiln_arguments *);
    kiln_status (*pool_create)(int threads, kiln_parallel *);
    void (*pool_destroy)(kiln_parallel *);
    const char *manifest; /* JSON text, the same as share/NAME/manifest.json */
    /* Null where the package was built without --fallback. */
    kiln_status (*fallback)(const kiln_package *, const kiln_descriptor *, kiln_fallback *, size_t memory_bytes,
                            const kiln_kernel **);
};

static inline kiln_status kiln_refuse_null(const char *detail) {
    kiln_status status;
    status.code = KILN_NULL_ARGUMENT;
    status.operand = KILN_NO_OPERAND;
    status.dimension = -1;
    status.detail = detail;
    return status;
}

/* Where every kernel comes from: trial, database, toolchains, time and how sure it is; JSON, as docs/package.md of kiln
 * describes it. `kiln explain` reads it from the library or from a program that was linked with it. */
static inline const char *kiln_manifest(const kiln_package *package) {
    const size_t with_manifest = offsetof(kiln_package, manifest) + sizeof(const char *);
    return package && package->struct_size >= with_manifest ? package->manifest : NULL;
}

/* What this CPU offers and its operating system enabled, as bits of the package's own; compare only within one.
 *
 * A package with kernels for AMX asks Linux for tile registers when it is first asked this, or for a kernel or network.
 * The system gives them to the process for good, and from then on refuses signal stacks (sigaltstack) that cannot hold
 * them: such stacks need getauxval(AT_MINSIGSTKSZ) bytes beside what handlers use. Other packages do not ask. */
static inline uint64_t kiln_cpu_features(const kiln_package *package) { return package ? package->cpu_features() : 0; }

/* The kernel of a workload that suits this CPU best; null where the call is refused. Look it up once and keep it. */
static inline kiln_status kiln_find(const kiln_package *package, const kiln_descriptor *descriptor,
                                    const kiln_kernel **kernel) {
    if (kernel) *kernel = NULL;
    if (!package) return kiln_refuse_null("package is null");
    return package->find(package, descriptor, package->cpu_features(), kernel);
}
static inline kiln_status kiln_find_key(const kiln_package *package, const char *key, const kiln_kernel **kernel) {
    if (kernel) *kernel = NULL;
    if (!package) return kiln_refuse_null("package is null");
    return package->find_key(package, key, package->cpu_features(), kernel);
}

/* The package's own kernel where it has one that this CPU runs; else one for any sizes, made in `memory`, slower than a
 * tuned one. It computes every valid convolution without a prologue or a depthwise one in front, in f32, f16, bf16 and
 * quantized, and gradient, with every layout, epilogue and number of threads, and meets KILN_EXACT. It is called like any
 * other: kiln_info has candidate "fallback@1", no packed and no prepared form, and the descriptor in `workload`; its key is
 * empty.
 *
 * Refused, with `memory` as it was: KILN_BAD_DESCRIPTOR, a field is not valid, which the detail names;
 * KILN_NOT_FOUND, nothing computes it: data movement, transforms, or the package was built without --fallback;
 * KILN_UNSUPPORTED_CPU, as kiln_find, in a package without. */
static inline kiln_status kiln_find_or_fallback(const kiln_package *package, const kiln_descriptor *descriptor,
                                                kiln_fallback *memory, const kiln_kernel **kernel) {
    const size_t with_fallback = offsetof(kiln_package, fallback) + sizeof(void (*)(void));
    kiln_status status;
    if (kernel) *kernel = NULL;
    if (!memory) return kiln_refuse_null("memory is null");
    status = kiln_find(package, descriptor, kernel);
    if (status.code != KILN_NOT_FOUND && status.code != KILN_UNSUPPORTED_CPU) return status;
    if (package->struct_size >= with_fallback && package->fallback) {
        return package->fallback(package, descriptor, memory, sizeof *memory, kernel);
    }
    if (status.code == KILN_NOT_FOUND) {
        status.detail = "the package has no kernel for this workload and was built without --fallback";
    }
    return status;
}

/* The kernel that a CPU with these features would get: for tests of dispatch. kiln_run refuses one that does not run
 * here. */
static inline kiln_status kiln_find_for(const kiln_package *package, const kiln_descriptor *descriptor,
                                        uint64_t cpu_features, const kiln_kernel **kernel) {
    if (kernel) *kernel = NULL;
    if (!package) return kiln_refuse_null("package is null");
    return package->find(package, descriptor, cpu_features, kernel);
}

/* All kernels, those of one workload next to each other and best first; null past the end. */
static inline size_t kiln_kernel_count(const kiln_package *package) {
    return package ? package->kernel_count(package) : 0;
}
static inline const kiln_kernel *kiln_kernel_at(const kiln_package *package, size_t index) {
    return package ? package->kernel_at(package, index) : NULL;
}

static inline const kiln_kernel_info *kiln_info(const kiln_kernel *kernel) {
    return kernel ? kernel->package->info(kernel) : NULL;
}

/* Scratch memory for a call with this many threads; 0 for a number of threads that is not 1 to 1024. SIZE_MAX if a
 * size_t cannot hold the sum; every call is refused then (KILN_BUFFER_TOO_SMALL), as with any buffer that is too small. */
static inline size_t kiln_workspace_bytes(const kiln_kernel *kernel, int threads) {
    return kernel ? kernel->package->workspace_bytes(kernel, threads) : 0;
}

/* Packing depends on the kernel: weights packed for one are noise to another, unless their candidates agree. Kernels
 * without a packed or prepared form do nothing, so that callers need not tell them apart. */
static inline kiln_status kiln_pack(const kiln_kernel *kernel, const kiln_arguments *arguments) {
    return kernel ? kernel->package->pack(kernel, arguments) : kiln_refuse_null("kernel is null");
}
static inline kiln_status kiln_prepare(const kiln_kernel *kernel, const kiln_arguments *arguments) {
    return kernel ? kernel->package->prepare(kernel, arguments) : kiln_refuse_null("kernel is null");
}
static inline kiln_status kiln_run(const kiln_kernel *kernel, const kiln_arguments *arguments) {
    return kernel ? kernel->package->run(kernel, arguments) : kiln_refuse_null("kernel is null");
}

/* A pool of `threads` threads, the calling one included, for any kernel of any package. Calls that share a pool at the
 * same time are correct, but only one of them has its threads. Destroy it when no call uses it, by the package that made
 * it: `package` is the same in both calls, and its library stays loaded between them.
 *
 * Its threads block all signals but those of a thread's own faults (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS), whose
 * handlers run where the fault is.
 *
 * After fork() the child has none of the pool's threads, and all calls stay allowed there: a call with the parent's pool
 * runs on its calling thread alone with the same results, kiln_pool_destroy releases the child's copy of the memory, and
 * kiln_pool_create makes a pool with threads of the child's own. The parent's pool is not affected. A pool that a thread
 * destroys while another one forks is as undefined as any other use of a pool that is being destroyed. */
static inline kiln_status kiln_pool_create(const kiln_package *package, int threads, kiln_parallel *pool) {
    return package ? package->pool_create(threads, pool) : kiln_refuse_null("package is null");
}
static inline void kiln_pool_destroy(const kiln_package *package, kiln_parallel *pool) {
    if (package) package->pool_destroy(pool);
}

/* Networks ----------------------------------------------------------------------------------------------------- */

/* An input or an output of a network: a dense tensor in row-major order, in memory with the alignment of one element. */
typedef struct kiln_port {
    const char *name; /* the model's */
    int32_t dtype, rank;
    const int64_t *shape; /* `rank` extents, outermost first; null for a scalar */
    size_t bytes;
} kiln_port;

/* The whole network for one target. */
typedef struct kiln_network_variant {
    const char *target;    /* a Halide target string */
    uint64_t cpu_features; /* that it needs, see kiln_cpu_features */
    size_t step_count;     /* kernels and copies of a run */
} kiln_network_variant;

typedef struct kiln_network_info {
    size_t struct_size;
    const char *name; /* the model's */
    const char *plan; /* 32 hex digits; weights with another plan are refused */
    size_t input_count, output_count;
    const kiln_port *inputs, *outputs;
    size_t variant_count; /* best first; the first that the CPU runs is used */
    const kiln_network_variant *variants;
    size_t weights_bytes;     /* of NAME.weights */
    size_t weights_alignment; /* of the memory that holds them; a mapped file has it */
    const void *weights;      /* those in the library; null where they are a file */
} kiln_network_info;

/* A weights file in memory, read-only. */
typedef struct kiln_weights {
    const void *data;
    size_t bytes;
} kiln_weights;

/* A network with its weights: opaque memory of the caller's, which needs no release and may be copied. It is not written
 * after kiln_bind_network, so any number of threads may run it at once. It points to the weights, which stay as they
 * are for as long as it is in use. */
typedef struct kiln_bound_network {
    uint64_t memory[8];
} kiln_bound_network;

/* Hears of each step of a run, in the thread that called kiln_run_network and in that thread's mode of arithmetic: for
 * profiles. `step` counts from 0 to the variant's step_count - 1. */
typedef struct kiln_observer {
    void (*after_step)(void *context, size_t step);
    void *context;
} kiln_observer;

/* In the order of kiln_network_info. Arrays may be null where the network has no input or output, and pointers where a
 * tensor has no bytes. Calls that run at the same time have outputs and workspaces of their own. */
typedef struct kiln_network_arguments {
    size_t struct_size;
    const void *const *inputs;
    void *const *outputs;
    void *workspace; /* of any alignment */
    size_t workspace_bytes;
    const kiln_parallel *parallel; /* null: the calling thread alone. The results are the same for any number. */
    const kiln_observer *observer; /* null: nobody hears of steps */
} kiln_network_arguments;

static inline void kiln_network_arguments_init(kiln_network_arguments *a) {
    memset(a, 0, sizeof *a);
    a->struct_size = sizeof *a;
}

typedef struct kiln_network kiln_network;

/* What a network consists of. Callers use the functions below. */
struct kiln_network {
    size_t struct_size;
    int32_t interface_version;
    int32_t reserved;
    const kiln_package *package; /* the kernels, pools of threads and the manifest */
    const kiln_network_info *info;
    const void *table; /* private */
    size_t (*workspace_bytes)(const kiln_network *, int threads, uint64_t cpu_features);
    kiln_status (*map_weights)(const char *path, kiln_weights *);
    void (*unmap_weights)(kiln_weights *);
    kiln_status (*bind)(const kiln_network *, const void *weights, size_t bytes, uint64_t cpu_features,
                        kiln_bound_network *);
    const kiln_network_variant *(*variant)(const kiln_bound_network *);
    kiln_status (*run)(const kiln_bound_network *, const kiln_network_arguments *);
    kiln_status (*load_weights)(const char *path, kiln_weights *);
};

static inline const kiln_network_info *kiln_describe_network(const kiln_network *network) {
    return network ? network->info : NULL;
}

/* Scratch memory for a run with this many threads on this CPU; 0 for a number of threads that is not 1 to 1024 and where
 * the CPU runs no variant; SIZE_MAX if a size_t cannot hold the sum. NAME_NETWORK_WORKSPACE_BYTES(threads) in NAME.h is
 * a constant that is enough for each variant. */
static inline size_t kiln_network_workspace_bytes(const kiln_network *network, int threads) {
    return network ? network->workspace_bytes(network, threads, network->package->cpu_features()) : 0;
}

/* Maps a weights file read-only; pages are read when they are first used, and processes share them. Whoever writes into the
 * file meanwhile changes the weights, and whoever cuts it ends the program; replacing it by another file (rename) does
 * neither.
 * KILN_CANNOT_READ: the file cannot be opened, is empty or is no regular file. KILN_NO_RESOURCES: it is not mapped. */
static inline kiln_status kiln_map_weights(const kiln_network *network, const char *path, kiln_weights *weights) {
    return network ? network->map_weights(path, weights) : kiln_refuse_null("network is null");
}

/* Reads a large weights file, of 16 MiB up to an eighth of the memory that the process may have, into huge pages where the
 * system has them: for programs that run a network often, since kernels read such weights from memory in each run. It takes
 * the time of a copy, and the memory is this process's own. Otherwise, and in libraries of older builds, it is
 * kiln_map_weights, whose errors it has. kiln_unmap_weights gives the memory back. */
static inline kiln_status kiln_load_weights(const kiln_network *network, const char *path, kiln_weights *weights) {
    if (!network) return kiln_refuse_null("network is null");
    return network->struct_size <= offsetof(kiln_network, load_weights) ? network->map_weights(path, weights)
                                                                        : network->load_weights(path, weights);
}
static inline void kiln_unmap_weights(const kiln_network *network, kiln_weights *weights) {
    if (network) network->unmap_weights(weights);
}

/* Takes the first variant that this CPU runs, and checks that the weights are those that were built with it: header,
 * plan, size and places, not every byte. Null for the weights in the library (kiln build --weights embed). It neither
 * copies nor allocates.
 *
 * Refused, with `bound` as it was: KILN_UNSUPPORTED_CPU; KILN_NULL_ARGUMENT, weights are null and the library has none;
 * KILN_BAD_ALIGNMENT, they are not aligned to weights_alignment; KILN_BAD_WEIGHTS; KILN_OTHER_WEIGHTS. */
static inline kiln_status kiln_bind_network(const kiln_network *network, const void *weights, size_t bytes,
                                            kiln_bound_network *bound) {
    if (!network) return kiln_refuse_null("network is null");
    return network->bind(network, weights, bytes, network->package->cpu_features(), bound);
}

/* The variant that a CPU with these features would get: for tests. kiln_run_network refuses one that does not run here. */
static inline kiln_status kiln_bind_network_for(const kiln_network *network, const void *weights, size_t bytes,
                                                uint64_t cpu_features, kiln_bound_network *bound) {
    return network ? network->bind(network, weights, bytes, cpu_features, bound) : kiln_refuse_null("network is null");
}

/* The variant that was bound. Precondition: kiln_bind_network answered KILN_OK. */
static inline const kiln_network_variant *kiln_bound_variant(const kiln_bound_network *bound) {
    const kiln_network *network;
    memcpy(&network, bound->memory, sizeof network);
    return network->variant(bound);
}

/* Computes the outputs. Allocates nothing, and takes no lock but for waking sleeping threads of a kiln_pool. Inputs,
 * outputs, workspace and weights must not share memory; but inputs may be the same. In a refusal `operand` is KILN_INPUT,
 * KILN_OUTPUT or KILN_WORKSPACE, and `dimension` counts inputs or outputs. Precondition: kiln_bind_network answered
 * KILN_OK for `bound`. */
static inline kiln_status kiln_run_network(const kiln_bound_network *bound, const kiln_network_arguments *arguments) {
    const kiln_network *network;
    if (!bound) return kiln_refuse_null("bound is null");
    memcpy(&network, bound->memory, sizeof network);
    return network ? network->run(bound, arguments)
                   : kiln_refuse_null("bound is not bound: kiln_bind_network fills it");
}

#ifdef __cplusplus
}
#endif

#endif
