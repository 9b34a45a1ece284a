// kiln-generator: compiles one candidate to a relocatable object, or to C for a soft core.
//
//   kiln-generator --workload KEY --candidate TEXT --target HALIDE_TARGET --threads N -o OBJECT
//   kiln-generator --workload KEY --candidate TEXT --target riscv-32-noos --threads 1 -o SOURCE.c    (perhaps SOURCE_pack.c, too)
//   kiln-generator --workload KEY --candidate TEXT --target HALIDE_TARGET --threads N --loops
//   kiln-generator ... --without-vnni      (the same kernel, for a CPU that Halide knows only with instructions that it lacks)
//   kiln-generator --version
//
// Prints one line of JSON with the kernel's constants on stdout; with --loops the loops of its functions instead
// (loop_nest.h). Exit status: 0 done, 1 the compiler refused the
// candidate (compile_error), 2 wrong usage, 4 the candidate does not fit the workload (refused); messages on stderr.
#include <Halide.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "catalog/catalog.h"
#include "generators/c/c_source.h"
#include "generators/halide_type.h"
#include "generators/loop_nest.h"
#include "generators/passes/fetched_lines.h"
#include "generators/passes/fetched_parts.h"
#include "generators/passes/joined_bytes.h"
#include "generators/passes/looked_up_bytes.h"
#include "generators/passes/negative_places.h"
#include "generators/passes/run_time_masks.h"
#include "generators/passes/shuffled_registers.h"
#include "generators/passes/turned_stores.h"
#include "runtime/kernel_abi.h"
#include "schedules/spaces/cpu_tile_knobs.h"
#include "schedules/spaces/depthwise/row_tile_space.h"
#include "schedules/spaces/depthwise/step_tile_knobs.h"
#include "text/quoted_text.h"
#include "workload/signature.h"

namespace kiln {
namespace {

constexpr int exit_compile_error = 1, exit_usage = 2, exit_refused = 4;

struct Arguments {
    std::string workload, candidate, target, threads, object;
    bool loops = false, without_vnni = false;
};

bool parse_arguments(int argc, char **argv, Arguments *arguments) {
    const std::map<std::string, std::string *> options = {{"--workload", &arguments->workload},
                                                          {"--candidate", &arguments->candidate},
                                                          {"--target", &arguments->target},
                                                          {"--threads", &arguments->threads},
                                                          {"-o", &arguments->object}};
    for (int i = 1; i < argc; i++) {
        const std::string name = argv[i];
        const auto option = options.find(name);
        if (name == "--loops") {
            arguments->loops = true;
        } else if (name == "--without-vnni") {
            arguments->without_vnni = true;
        } else if (option != options.end() && i + 1 < argc) {
            *option->second = argv[++i];
        } else {
            return false;
        }
    }
    return std::all_of(options.begin(), options.end(), [&](const auto &option) {
        const bool unused = arguments->loops && option.first == "-o";
        return option.second->empty() == unused;
    });
}

struct Request {
    Workload workload;
    Candidate candidate;
    Target target;
    bool without_vnni = false;
};

// Everything that a generator may rely on is checked here, before one is made.
Result<Request> validated(const Arguments &arguments) {
    auto workload = parse_workload_key(arguments.workload);
    if (!workload) return workload.error();
    auto candidate = parse_candidate(arguments.candidate);
    if (!candidate) return candidate.error();
    const auto target = parse_target(arguments.target, std::atoi(arguments.threads.c_str()), arguments.target);
    if (!target) return target.error();
    if (Status fits = check_candidate(*candidate, *workload, *target); !fits) return fits.error();
    return Request{std::move(*workload), std::move(*candidate), *target, arguments.without_vnni};
}

struct Generated {
    Halide::Pipeline pipeline;
    std::vector<Halide::Argument> arguments;
    std::vector<Halide::Expr> input_bytes;  // as they are stored, where extents are known; of numbers nothing
    std::vector<std::string> output_names;
    std::vector<int64_t> outputs_bytes;

    int64_t output_bytes() const { return std::accumulate(outputs_bytes.begin(), outputs_bytes.end(), int64_t{0}); }
};

// Of sizes at run time where extents are. 0 where an extent is not known.
Halide::Expr bytes_of(const Halide::Parameter &buffer) {
    Halide::Expr bytes = buffer.type().bytes();
    for (int d = 0; d < buffer.dimensions(); d++) {
        const Halide::Expr extent = buffer.extent_constraint(d);
        bytes = extent.defined() ? bytes * extent : Halide::Expr(0);
    }
    return Halide::Internal::simplify(bytes);
}

// 0 where it depends on sizes at run time.
int64_t known(const Halide::Expr &bytes) { return Halide::Internal::as_const_int(bytes).value_or(0); }

Generated generate(const std::string &generator_name, const Request &request, const Halide::Target &target) {
    const auto generator =
        Halide::Internal::GeneratorRegistry::create(generator_name, Halide::GeneratorContext(target));
    generator->set_generatorparam_value("workload", key(request.workload));
    generator->set_generatorparam_value("candidate", to_text(request.candidate));
    generator->set_generatorparam_value("kiln_target", request.target.halide);
    Generated made;
    made.pipeline = generator->build_pipeline();
    for (const auto &info : generator->arginfos()) {
        if (info.dir == Halide::Internal::ArgInfoDirection::Output) {
            const Halide::Parameter buffer = generator->output_func(info.name).front().output_buffer().parameter();
            made.output_names.push_back(buffer.name());
            made.outputs_bytes.push_back(known(bytes_of(buffer)));
            continue;
        }
        for (const auto &p : generator->input_parameter(info.name)) {
            const auto kind = p.is_buffer() ? Halide::Argument::InputBuffer : Halide::Argument::InputScalar;
            made.arguments.emplace_back(p.name(), kind, p.type(), p.dimensions(), p.get_argument_estimates());
            made.input_bytes.push_back(p.is_buffer() ? bytes_of(p) : Halide::Expr());
        }
    }
    return made;
}

bool is_registered(const std::string &name) {
    const auto known = Halide::Internal::GeneratorRegistry::enumerate();
    return std::find(known.begin(), known.end(), name) != known.end();
}

// The functions of a kernel: `symbol` and what it is made of.
struct KernelFunction {
    const char *symbol;
    Generated made;
};

constexpr int avx512_lanes = 16;

JoinBytes joins_bytes_by(const Target &target) {
    if (vector_lanes(target) < avx512_lanes) return JoinBytes::narrow;
    return has_dot_products(target) ? JoinBytes::by_funnels : JoinBytes::by_masks;
}

// Of runtime/lookup/byte_lookup.h; empty where a target has none.
std::string lookup_function(const Target &target) {
    if (has_dot_products(target) && vector_lanes(target) == avx512_lanes) return "kiln_look_up1_avx512vbmi";
    return has_feature(target, "avx2") ? "kiln_look_up1_avx2" : "";
}

std::vector<KernelFunction> functions_of(const Request &request, const Halide::Target &target) {
    std::vector<KernelFunction> functions;
    for (const auto &[suffix, symbol] :
         {std::pair{"", compute_symbol}, {"_pack", pack_symbol}, {"_prepare", prepare_symbol}}) {
        const std::string name = request.candidate.algorithm + suffix;
        if (is_registered(name)) functions.push_back({symbol, generate(name, request, target)});
    }
    fetch_into_caches(functions.front().made.pipeline);
    // The templates that have these knobs call them the same.
    const auto knob = [&](const std::string &name) {
        const auto found = request.candidate.knobs.find(name);
        return found == request.candidate.knobs.end() ? 0 : found->second;
    };
    Halide::Pipeline &compute = functions.front().made.pipeline;
    const int64_t ahead = knob(knob_name(&CpuTileKnobs::fetch_weights));
    if (ahead > 0) fetch_ahead(compute, "weights", ahead << 10);
    if (knob(knob_name(&CpuTileKnobs::fetch_panels))) fetch_next_part(compute, "weights");
    if (knob(knob_name(&CpuTileKnobs::fetch_blocks))) fetch_next_part(compute, "input");
    join_bytes(compute, joins_bytes_by(request.target));
    if (const std::string function = lookup_function(request.target); !function.empty())
        look_up_bytes(compute, function);
    if (knob(knob_name(&StepTileKnobs::in_lanes))) {
        for (const char *stage : {"bytes", "pairs", "result"}) shuffle_registers(compute, stage);
    }
    if (request.candidate.schedule == row_tile_name &&
        is_in_registers({.slide = knob(knob_name(&RowTileKnobs::slide))})) {
        for (const char *stage : {"copy", "dense"}) shuffle_registers(compute, stage);
    }
    if (knob(knob_name(&RowTileKnobs::by_columns)) && vector_lanes(request.target) == avx512_lanes)
        make_masks_at_run_time(compute);
    if (!is_soft_core(request.target)) turn_stores(compute);
    allow_negative_places(compute);
    for (const StepOperand &operand : step_operands()) {
        const bool is_read = is_like_result(operand.step) && has_step(request.workload.epilogue, operand.step);
        if (is_read && !is_soft_core(request.target))
            fetch_before_loops(functions.front().made.pipeline, std::string(operand.name));
    }
    return functions;
}

// Halide 21 does not tell CPUs apart that have VNNI, but not BF16, from those without VNNI. Quantized sums are compiled for the
// least CPU with VNNI that it knows, and other kernels for those without it. tuner/build/object_file.h looks for what
// that CPU has beyond; what has it is compiled without VNNI. There is VNNI for weights of i8 alone.
constexpr std::string_view icelake = "avx512_icelake";

std::string known_to_halide(std::string text) {
    const size_t at = text.find("-" + std::string(icelake));
    return at == text.npos ? text : text.erase(at, icelake.size() + 1);
}

// Halide has no code for RISC-V without vectors, and refuses to lower loops for it. Those of any scalar target of 32 bits
// are the same.
Halide::Target halide_target(const Request &request) {
    const bool is_c = is_soft_core(request.target);
    Halide::Target target(is_c ? "x86-32-noos" : known_to_halide(request.target.halide));
    const bool has_dot_products = is_quantized(request.workload) && request.workload.kernel_dtype == DType::i8;
    if (has_feature(request.target, icelake) && has_dot_products && !request.without_vnni) {
        target.set_feature(Halide::Target::AVX512_Zen4);
    }
    for (auto feature : {Halide::Target::NoRuntime, Halide::Target::NoAsserts, Halide::Target::NoBoundsQuery}) {
        target.set_feature(feature);
    }
    return is_c ? target : target.with_feature(Halide::Target::UserContext);
}

Halide::Module lower(KernelFunction &f, const Halide::Target &target) {
    return f.made.pipeline.compile_to_module(f.made.arguments, f.symbol, target, Halide::LinkageType::ExternalPlusArgv);
}

// Halide 21 forgets that steps of a module are rounded one by one (strict_float) when it links modules: then products and sums of
// them become one instruction that rounds once.
Halide::Module linked(const std::vector<Halide::Module> &modules) {
    Halide::Module all = Halide::link_modules("kiln", modules);
    for (const Halide::Module &module : modules) {
        if (module.any_strict_float()) all.set_any_strict_float(true);
    }
    return all;
}

// Where everything lies that a kernel for a soft core needs beside its activations: one array of int32_t, with the inputs of
// kiln_compute behind the first one in their order. kiln_pack writes it: what its loops make, and copies of the other operands.
// Numbers come first: together they are the first that kiln_pack makes. They are sizes at run time, on which the places of
// others may depend.
struct Constants {
    CForm compute, pack;
    int64_t words = 0;

    bool is_sized() const { return !compute.sizes.empty(); }
};

void add_made(const Generated &compute, const Generated &pack, Constants *constants) {
    using namespace Halide::Internal;
    Halide::Expr at = 0;  // a word, for every layer
    size_t argument = 1;
    for (; argument < compute.arguments.size() && !compute.arguments[argument].is_buffer(); argument++) {
        const Halide::ArgumentEstimates &estimates = compute.arguments[argument].argument_estimates;
        const auto value = estimates.scalar_estimate.defined() ? as_const_int(estimates.scalar_estimate) : std::nullopt;
        constants->compute.sizes.push_back(
            {compute.arguments[argument].name, static_cast<int64_t>(argument) - 1, value.value_or(0)});
    }
    if (constants->is_sized()) at = static_cast<int>(constants->compute.sizes.size());
    for (size_t i = 0; i < pack.output_names.size(); i++) {
        constants->pack.members.push_back({pack.output_names[i], static_cast<int>(constants->words)});
        constants->words += (pack.outputs_bytes[i] + 3) / 4;
        if (constants->is_sized() && i == 0) continue;
        constants->compute.members.push_back({compute.arguments.at(argument).name, at});
        at = simplify(at + (compute.input_bytes[argument++] + 3) / 4);
    }
}

Constants constants_of(const Workload &workload, const Generated &compute, const Generated *pack) {
    Constants constants;
    constants.pack.writes = true;
    std::vector<TensorForm> operands;
    for (const TensorForm &operand : signature(workload).operands) {
        if (operand.role != Role::input) operands.push_back(operand);
    }
    if (pack) add_made(compute, *pack, &constants);
    for (size_t i = 1 + constants.compute.members.size() + constants.compute.sizes.size(); i < compute.arguments.size();
         i++) {
        const auto words = static_cast<int>(constants.words);
        constants.compute.members.push_back({compute.arguments[i].name, words});
        const TensorForm &operand = operands.at(i - 1);
        constants.pack.copies.push_back(
            {std::string(operand.name), halide_type(operand.dtype), operand.bytes() / size_of(operand.dtype), words});
        constants.words += (known(compute.input_bytes[i]) + 3) / 4;
    }
    return constants;
}

// A file that the disk or the system does not take.
struct Unwritten {
    std::string what;
};

void write_text(const std::string &path, const std::string &text) {
    if ((std::ofstream(path, std::ios::binary) << text).flush()) return;
    throw Unwritten{path + ": cannot be written: " + std::strerror(errno)};
}

struct WrittenC {
    int64_t packed_bytes = 0, workspace_bytes = 0;
    int sources =
        1;  // 2: kiln_pack has a file of its own, for kiln_compute has sizes at run time, and other layers may share it
};

WrittenC write_c(const Request &request, std::vector<KernelFunction> functions, const Halide::Target &target,
                 const std::string &path) {
    // Which operands of a nest are constants is known where it is called: it takes all of them as they are.
    const bool has_array = !is_nest(request.workload.op), has_pack = functions.size() > 1;
    Constants constants;
    constants.compute.may_overlap = !has_array;
    if (has_array)
        constants = constants_of(request.workload, functions[0].made, has_pack ? &functions[1].made : nullptr);
    std::vector<CModule> modules = {{lower(functions[0], target), constants.compute}};
    if (has_pack) modules.push_back({lower(functions[1], target), constants.pack});
    if (constants.is_sized()) {
        const CSource compute = c_source({modules[0]}), pack = c_source({modules[1]});
        write_text(path, compute.text);
        write_text(path.substr(0, path.rfind('.')) + "_pack.c", pack.text);
        return {4 * constants.words, std::max(compute.workspace_bytes, pack.workspace_bytes), 2};
    }
    const CSource source = c_source(modules, has_array && !has_pack ? std::optional(constants.pack) : std::nullopt);
    write_text(path, source.text);
    return {4 * constants.words, source.workspace_bytes};
}

int compile(const Request &request, const std::string &object_path) {
    const Halide::Target target = halide_target(request);
    std::vector<KernelFunction> functions = functions_of(request, target);
    std::map<std::string, int64_t> bytes;
    for (const KernelFunction &f : functions) bytes[f.symbol] = f.made.output_bytes();
    WrittenC written;
    if (is_soft_core(request.target)) {
        written = write_c(request, functions, target, object_path);
        bytes[pack_symbol] = written.packed_bytes;
    } else {
        std::vector<Halide::Module> modules;
        for (KernelFunction &f : functions) modules.push_back(lower(f, target));
        linked(modules).compile({{Halide::OutputFileType::object, object_path}});
    }
    std::printf("{\"packed_bytes\": %lld, \"prepared_bytes\": %lld, \"workspace_bytes\": %lld, \"sources\": %d}\n",
                static_cast<long long>(bytes[pack_symbol]), static_cast<long long>(bytes[prepare_symbol]),
                static_cast<long long>(written.workspace_bytes), written.sources);
    return 0;
}

int print_loops(const Request &request) {
    const Halide::Target target = halide_target(request);
    for (const KernelFunction &f : functions_of(request, target)) {
        std::printf("%s\n%s", f.symbol, loop_nest(f.made.pipeline, target).c_str());
    }
    return 0;
}

}  // namespace
}  // namespace kiln

int main(int argc, char **argv) {
    if (argc == 2 && std::strcmp(argv[1], "--version") == 0) {
        std::printf("halide %d.%d.%d\n", HALIDE_VERSION_MAJOR, HALIDE_VERSION_MINOR, HALIDE_VERSION_PATCH);
        return 0;
    }
    kiln::Arguments arguments;
    if (!kiln::parse_arguments(argc, argv, &arguments)) {
        std::fprintf(stderr,
                     "usage: kiln-generator --workload KEY --candidate TEXT --target HALIDE_TARGET --threads N -o "
                     "OBJECT|--loops [--without-vnni]\n");
        return kiln::exit_usage;
    }
    const auto request = kiln::validated(arguments);
    if (!request) {
        std::fprintf(stderr, "%s\n", kiln::quoted_line(request.error().message).c_str());
        return request.error().code == kiln::ErrorCode::unsupported ? kiln::exit_refused : kiln::exit_usage;
    }
    try {
        return arguments.loops ? kiln::print_loops(*request) : kiln::compile(*request, arguments.object);
    } catch (const kiln::NoCForm &error) {
        std::fprintf(stderr, "C has no form for %s\n", error.what.c_str());
        return kiln::exit_compile_error;
    } catch (const kiln::Unwritten &error) {
        std::fprintf(stderr, "%s\n", kiln::quoted_lines(error.what).c_str());
        return kiln::exit_compile_error;
    } catch (const Halide::Error &error) {  // does not derive from std::exception as seen from here
        std::fprintf(stderr, "%s\n", kiln::quoted_lines(error.what()).c_str());
        return kiln::exit_compile_error;
    }
}
