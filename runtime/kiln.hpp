// A package of `kiln build` from C++17: the calls of kiln.h with exceptions for refusals, and owners for memory and
// threads. Thin: everything is inline and calls what kiln.h documents.
//
//   kiln::Layer layer(NAME_package(), "conv2d/input:1x56x56x64/kernel:3x3x64x64");   // or a kiln_descriptor
//   layer.pack(kiln::tensor(weights, {3, 3, 64, 64}));                                // once
//   kiln::Operands operands;
//   operands.input = kiln::tensor(x, {1, 56, 56, 64}), operands.output = kiln::tensor(y, {1, 54, 54, 64});
//   layer.run(operands);
//
//   kiln::Weights weights(NAME_network(), "NAME.weights");                            // of kiln build --network
//   kiln::Network network(weights);                                                   // one for each thread
//   network.run(inputs, outputs);                                                     // arrays of pointers
#ifndef KILN_HPP
#define KILN_HPP

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "kiln.h"

namespace kiln {

// Translation units of one program may have this header of packages that different versions of kiln built. Their classes are
// different ones, so that the linker never takes one's functions for the other's: the number is layout_bytes below. Where a
// function changes and no size does, a letter goes behind it. What one throws, the other catches as std::runtime_error.
inline namespace layout_14216 {

// A refused call; nothing was touched. what() is the sentence of the status.
class Error : public std::runtime_error {
public:
    explicit Error(const kiln_status &status) : std::runtime_error(status.detail), status_(status) {}
    int code() const noexcept { return status_.code; }  // KILN_NOT_FOUND, ...
    const kiln_status &status() const noexcept { return status_; }

private:
    kiln_status status_;
};

inline void check(const kiln_status &status) {
    if (status.code != KILN_OK) throw Error(status);
}

// dtypes that C++ has no type for are given by number: kiln::tensor(words, {n, h, w, c}, KILN_BF16).
template<typename T>
constexpr std::int32_t dtype_of() {
    static_assert(std::is_same_v<T, float> || std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int8_t> ||
                      std::is_same_v<T, std::uint8_t>,
                  "this type is not the element of a tensor; give the dtype as last argument");
    if (std::is_same_v<T, std::int8_t>) return KILN_I8;
    if (std::is_same_v<T, std::uint8_t>) return KILN_U8;
    return std::is_same_v<T, float> ? KILN_F32 : KILN_I32;
}

// A dense tensor in memory of yours; shape as stored, outermost dimension first. Throws Error for a rank above 6.
inline kiln_tensor tensor(const void *data, std::initializer_list<std::int64_t> shape, std::int32_t dtype) {
    if (shape.size() > KILN_MAX_RANK) {
        throw Error({KILN_BAD_RANK, KILN_NO_OPERAND, -1, "a tensor has at most 6 dimensions"});
    }
    return kiln_tensor_dense(data, dtype, static_cast<std::int32_t>(shape.size()), shape.begin());
}
template<typename T>
kiln_tensor tensor(const T *data, std::initializer_list<std::int64_t> shape) {
    return tensor(data, shape, dtype_of<T>());
}

// Threads of its own, the calling one included. Must outlive the layers that use it. In the child of a fork() layers with
// this pool run on their calling thread alone, and destroying the pool is safe (kiln_pool_create in kiln.h).
class Pool {
public:
    Pool(const kiln_package *package, int threads) : package_(package) {
        check(kiln_pool_create(package, threads, &pool_));
    }
    Pool(const Pool &) = delete;
    Pool &operator=(const Pool &) = delete;
    ~Pool() { kiln_pool_destroy(package_, &pool_); }

    const kiln_parallel *get() const noexcept { return &pool_; }

private:
    const kiln_package *package_;
    kiln_parallel pool_{};
};

// What a call takes; an operand that the workload has not may stay as it is.
struct Operands {
    kiln_tensor input{}, weights{}, bias{}, addend{}, output{}, slope{};
    // Of quantized convolutions.
    kiln_tensor input_zero_point{}, kernel_zero_point{}, multiplier{}, shift{}, scale{}, output_zero_point{},
        result_bounds{};
    // Where they add a quantized tensor.
    kiln_tensor addend_zero_point{}, addition_multiplier{}, addition_shift{}, addition_factors{}, addition_zero_point{},
        addition_bounds{};
    kiln_tensor factor{};
    kiln_tensor input_factor{}, input_bias{};  // of a prologue
    kiln_tensor depthwise_kernel{};
};

// Aligned bytes of its own; none where there are zero.
class Memory {
public:
    Memory() = default;
    Memory(std::size_t bytes, std::size_t alignment)
        : alignment_{alignment}, data_(bytes > 0 ? ::operator new(bytes, alignment_) : nullptr) {}
    Memory(Memory &&other) noexcept : alignment_(other.alignment_), data_(std::exchange(other.data_, nullptr)) {}
    Memory &operator=(Memory &&other) noexcept {
        std::swap(alignment_, other.alignment_);
        std::swap(data_, other.data_);
        return *this;
    }
    ~Memory() { ::operator delete(data_, alignment_); }

    void *get() const noexcept { return data_; }

private:
    std::align_val_t alignment_{1};
    void *data_ = nullptr;
};

// Whether a package that was built with --fallback may compute what it has no kernel of its own for.
enum class Fallback { refused, allowed };

// A kernel with the memory that it needs: packed weights, prepared input, workspace. It allocates when it is made and
// never again. One call at a time; layers are independent of each other.
class Layer {
public:
    Layer(const kiln_package *package, const kiln_descriptor &workload, const kiln_parallel *parallel = nullptr,
          Fallback fallback = Fallback::refused)
        : Layer(find(package, workload, fallback), parallel) {}
    Layer(const kiln_package *package, const char *key, const kiln_parallel *parallel = nullptr)
        : Layer(find(package, key), parallel) {}
    explicit Layer(const kiln_kernel *kernel, const kiln_parallel *parallel = nullptr)
        : Layer(Found{kernel, nullptr}, parallel) {}

    const kiln_kernel *kernel() const noexcept { return kernel_; }
    const kiln_kernel_info &info() const noexcept { return *kiln_info(kernel_); }

    // Once for each set of weights. A kernel that takes plain weights reads them in every run, so they must stay.
    void pack(const kiln_tensor &weights) {
        arguments_.weights = weights;
        check(kiln_pack(kernel_, &arguments_));
    }

    // Prepares the input where the kernel wants that, then runs. Weights that pack() was given need not be given again.
    void run(const Operands &operands) {
        arguments_.input = operands.input;
        if (operands.weights.rank > 0) arguments_.weights = operands.weights;
        arguments_.bias = operands.bias;
        arguments_.addend = operands.addend;
        arguments_.slope = operands.slope;
        arguments_.input_zero_point = operands.input_zero_point;
        arguments_.kernel_zero_point = operands.kernel_zero_point;
        arguments_.multiplier = operands.multiplier;
        arguments_.shift = operands.shift;
        arguments_.scale = operands.scale;
        arguments_.output_zero_point = operands.output_zero_point;
        arguments_.result_bounds = operands.result_bounds;
        arguments_.addend_zero_point = operands.addend_zero_point;
        arguments_.addition_multiplier = operands.addition_multiplier;
        arguments_.addition_shift = operands.addition_shift;
        arguments_.addition_factors = operands.addition_factors;
        arguments_.addition_zero_point = operands.addition_zero_point;
        arguments_.addition_bounds = operands.addition_bounds;
        arguments_.factor = operands.factor;
        arguments_.input_factor = operands.input_factor;
        arguments_.input_bias = operands.input_bias;
        arguments_.depthwise_kernel = operands.depthwise_kernel;
        arguments_.output = operands.output;
        if (info().prepared_bytes > 0) check(kiln_prepare(kernel_, &arguments_));
        check(kiln_run(kernel_, &arguments_));
    }

private:
    // A kernel, and where it lies if it was made just now.
    struct Made {
        kiln_fallback memory;
    };
    struct Found {
        const kiln_kernel *kernel;
        std::unique_ptr<Made> made;
    };

    Layer(Found found, const kiln_parallel *parallel) : made_(std::move(found.made)), kernel_(found.kernel) {
        if (!kernel_) throw Error(kiln_refuse_null("kernel is null"));
        kiln_arguments_init(&arguments_);
        const kiln_kernel_info &about = info();
        arguments_.parallel = parallel;
        arguments_.packed_bytes = about.packed_bytes;
        arguments_.prepared_bytes = about.prepared_bytes;
        arguments_.workspace_bytes = kiln_workspace_bytes(kernel_, parallel ? parallel->threads : 1);
        packed_ = Memory(about.packed_bytes, about.alignment);
        prepared_ = Memory(about.prepared_bytes, about.alignment);
        workspace_ = Memory(arguments_.workspace_bytes, about.alignment);
        arguments_.packed = packed_.get();
        arguments_.prepared = prepared_.get();
        arguments_.workspace = workspace_.get();
    }

    static Found find(const kiln_package *package, const kiln_descriptor &workload, Fallback fallback) {
        Found found{nullptr, nullptr};
        if (fallback == Fallback::refused) {
            check(kiln_find(package, &workload, &found.kernel));
        } else {
            found.made = std::make_unique<Made>();
            check(kiln_find_or_fallback(package, &workload, &found.made->memory, &found.kernel));
        }
        return found;
    }
    static Found find(const kiln_package *package, const char *key) {
        Found found{nullptr, nullptr};
        check(kiln_find_key(package, key, &found.kernel));
        return found;
    }

    std::unique_ptr<Made> made_;
    const kiln_kernel *kernel_;
    kiln_arguments arguments_{};
    Memory packed_, prepared_, workspace_;
};

// The weights of a network, bound to it: a file, which is mapped, or those in the library. Any number of threads may use them
// at once. They outlive the networks that use them.
class Weights {
public:
    explicit Weights(const kiln_network *network) : network_(network) { bind(); }
    Weights(const kiln_network *network, const char *file) : network_(network) {
        check(kiln_map_weights(network, file, &mapped_));
        bind();
    }
    Weights(const Weights &) = delete;
    Weights &operator=(const Weights &) = delete;
    ~Weights() { kiln_unmap_weights(network_, &mapped_); }

    const kiln_network *network() const noexcept { return network_; }
    const kiln_bound_network *get() const noexcept { return &bound_; }
    const kiln_network_variant &variant() const noexcept { return *kiln_bound_variant(&bound_); }

private:
    void bind() {
        const kiln_status status = kiln_bind_network(network_, mapped_.data, mapped_.bytes, &bound_);
        if (status.code == KILN_OK) return;
        kiln_unmap_weights(network_, &mapped_);
        throw Error(status);
    }

    const kiln_network *network_;
    kiln_weights mapped_{};
    kiln_bound_network bound_{};
};

// A network with a workspace of its own. It allocates when it is made and never again. One call at a time.
class Network {
public:
    explicit Network(const Weights &weights, const kiln_parallel *parallel = nullptr) : weights_(&weights) {
        const int threads = parallel ? parallel->threads : 1;
        kiln_network_arguments_init(&arguments_);
        arguments_.workspace_bytes = kiln_network_workspace_bytes(weights.network(), threads);
        arguments_.parallel = parallel;
        workspace_ = Memory(arguments_.workspace_bytes, info().weights_alignment);
        arguments_.workspace = workspace_.get();
    }

    const kiln_network_info &info() const noexcept { return *kiln_describe_network(weights_->network()); }

    // In the order of info().
    void run(const void *const *inputs, void *const *outputs) {
        arguments_.inputs = inputs;
        arguments_.outputs = outputs;
        check(kiln_run_network(weights_->get(), &arguments_));
    }

    // Hears of each step of the runs that follow, until another is set. It outlives them; null: nobody hears.
    void observe(const kiln_observer *observer) noexcept { arguments_.observer = observer; }

private:
    const Weights *weights_;
    kiln_network_arguments arguments_{};
    Memory workspace_;
};

// Structures grow only, so each member that is added anywhere changes it.
inline constexpr std::size_t layout_bytes =
    sizeof(kiln_arguments) + sizeof(kiln_network_arguments) + sizeof(kiln_fallback) + sizeof(kiln_bound_network) +
    sizeof(kiln_weights) + sizeof(kiln_parallel) + sizeof(Operands) + sizeof(Layer) + sizeof(Weights) + sizeof(Network);
static_assert(sizeof(void *) != 8 || layout_bytes == 14216, "rename the namespace: its number is layout_bytes");

}  // namespace layout_14216
}  // namespace kiln

#endif
