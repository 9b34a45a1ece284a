// Packages of small kernels written in C: what is written, that programs link and run it, and what is refused.
#include "package/package.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "package/manifest_reader.h"
#include "package/output/package_files.h"
#include "package/package_table.h"
#include "package/package_texts.h"
#include "package/table_order.h"
#include "tests/build_paths.h"
#include "tests/tuner/build/compiled_object.h"
#include "tuner/build/object_file.h"

namespace kiln {
namespace fs = std::filesystem;

namespace {

// Kernels of 1x1 convolutions of one pixel and one channel: output = gain x input x packed weight (+ bias). The packed
// form is the weight; a parallel loop and scratch memory show that the package's own runtime serves them.
std::string kernel_source(int gain) {
    return "#include <HalideRuntime.h>\n"
           "static float *data(void **a, int i) { return (float *)((halide_buffer_t *)a[i])->host; }\n"
           "static const float gain = " +
           std::to_string(gain) +
           ";\n"
           "static int task(void *context, int i, uint8_t *closure) {\n"
           "    void **a = (void **)closure;\n"
           "    float *scratch = halide_malloc(context, 100);\n"
           "    if (!scratch) return -1;\n"
           "    scratch[0] = data(a, 1)[0] * data(a, 2)[0] * gain;\n"
           "    if (i == 0) data(a, 3)[0] = scratch[0];\n"
           "    halide_free(context, scratch);\n"
           "    return 0;\n"
           "}\n"
           "int kiln_compute_argv(void **a) {\n"
           "    return halide_do_par_for(*(void **)a[0], task, 0, 4, (uint8_t *)a);\n"
           "}\n"
           "int kiln_pack_argv(void **a) { data(a, 2)[0] = data(a, 1)[0]; return 0; }\n";
}

constexpr const char *everywhere = "x86-64-linux",
                     *nowhere = "x86-64-linux-avx-avx2-avx512-avx512_sapphirerapids-avx512_zen4";

class PackageTest : public testing::Test {
protected:
    PackageTest() {
        const fs::path root = fs::path(binary_dir()).parent_path();
        parts_.runtime_library = root / "lib/libkiln_kernel_runtime.a";
        parts_.header_folder = root / "include/kiln";
        parts_.work_folder = folder_ / "work";
        fs::create_directory(parts_.work_folder);
        fs::create_directory(folder_ / "out");
    }

    PackagedKernel kernel(int64_t batch, int gain, const std::string &target = everywhere) {
        const std::string name = "kernel" + std::to_string(gain);
        PackagedKernel k;
        k.workload = {"net", "layer\"" + std::to_string(batch), 1, convolution({batch, 1, 1, 1}, {1, 1, 1, 1})};
        k.target = {target, 1};
        k.candidate = "direct@1/cpu_tile@1/vectors:" + std::to_string(gain);
        const std::string object =
            compile_c(folder_, name, kernel_source(gain), {"-isystem", KILN_HALIDE_RUNTIME_HEADER});
        k.artifact.code = ObjectFile{object};
        k.artifact.object_hash = *object_hash(object);
        k.artifact.packed_bytes = 4;
        k.workspace_bytes_per_thread = 64 + 128;
        k.errors.max = 1e-7;
        return k;
    }

    // As if it had been measured on this machine.
    static PackagedKernel measured(PackagedKernel k, double median) {
        k.best.emplace();
        k.best->trial.id = "0123456789abcdef0123456789abcdef";
        k.best->measurement.machine = "this";
        k.best->measurement.median = median;
        return k;
    }

    Package package(const std::string &name = "tiny") {
        return {name, "test 1", "tuned.db", {kernel(1, 1), kernel(2, 2), kernel(2, 3, nowhere), kernel(3, 1)}};
    }

    std::string out(const std::string &name) { return folder_ / ("out/" + name); }

    // Every file below the folder with its bytes.
    static std::map<std::string, std::string> files(const std::string &folder) {
        std::map<std::string, std::string> result;
        for (const auto &entry : fs::recursive_directory_iterator(folder)) {
            if (entry.is_regular_file()) {
                result[fs::relative(entry.path(), folder)] = ScratchFolder::read(entry.path());
            }
        }
        return result;
    }

    std::vector<std::string> names_in(const std::string &folder) {
        std::vector<std::string> names;
        for (const auto &entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
        std::sort(names.begin(), names.end());
        return names;
    }

    // Compiles and links a C program with the C compiler alone.
    std::string build_program(const std::string &source, const std::vector<std::string> &packages) {
        ScratchFolder::write(folder_ / "program.c", source);
        std::vector<std::string> command = {"/usr/bin/cc",      "-std=c99", "-pedantic-errors",    "-Wall",
                                            "-Wextra",          "-Werror",  folder_ / "program.c", "-o",
                                            folder_ / "program"};
        for (const std::string &name : packages) {
            command.insert(command.end(), {"-I", out(name) + "/include", out(name) + "/lib/lib" + name + ".a"});
        }
        command.insert(command.end(), {"-lm", "-pthread"});
        if (*KILN_TEST_LINK_FLAGS) command.push_back(KILN_TEST_LINK_FLAGS);
        run_command(command);
        return folder_ / "program";
    }

    ScratchFolder folder_;
    PackageParts parts_;
    PackagedKernel bad_;
};

const std::string caller = R"(
static float call(const kiln_package *package, const char *key, int64_t batch, int threads) {
    const kiln_kernel *kernel;
    kiln_status status = kiln_find_key(package, key, &kernel);
    if (status.code != KILN_OK) return -(float)status.code;
    float input = 5, weights = 7, output = 0;
    static char packed[64 + 64], workspace[4096];
    int64_t activation[4] = {batch, 1, 1, 1}, one[4] = {1, 1, 1, 1};
    kiln_parallel pool = {0};
    kiln_arguments a;
    float inputs[8] = {0}, outputs[8] = {0};
    inputs[0] = input;
    kiln_arguments_init(&a);
    a.input = kiln_tensor_dense(inputs, KILN_F32, 4, activation);
    a.weights = kiln_tensor_dense(&weights, KILN_F32, 4, one);
    a.output = kiln_tensor_dense(outputs, KILN_F32, 4, activation);
    a.packed = packed + (64 - (uintptr_t)packed % 64) % 64;
    a.packed_bytes = kiln_info(kernel)->packed_bytes;
    a.workspace = workspace;
    a.workspace_bytes = kiln_workspace_bytes(kernel, threads);
    if (threads > 1 && kiln_pool_create(package, threads, &pool).code != KILN_OK) return -100;
    if (threads > 1) a.parallel = &pool;
    if (kiln_pack(kernel, &a).code != KILN_OK) return -101;
    status = kiln_run(kernel, &a);
    if (threads > 1) kiln_pool_destroy(package, &pool);
    output = outputs[0];
    return status.code == KILN_OK ? output : -102;
}
)";

TEST_F(PackageTest, ACProgramLinksAndRunsItWithTheCCompilerAlone) {
    ASSERT_TRUE(write_package(package(), parts_, out("tiny")).ok());
    const std::string program = build_program("#include <stdio.h>\n#include <tiny.h>\n" + caller + R"(
int main(void) {
    const kiln_package *p = tiny_package();
    printf("%g %g %g %g\n", call(p, "conv2d/input:1x1x1x1/kernel:1x1x1x1", 1, 1),
           call(p, "conv2d/input:2x1x1x1/kernel:1x1x1x1", 2, 2), call(p, "conv2d/input:3x1x1x1/kernel:1x1x1x1", 3, 3),
           call(p, "conv2d/input:9x1x1x1/kernel:1x1x1x1", 9, 1));
    printf("%s %s %d\n", p->name, p->toolchain, (int)kiln_kernel_count(p));
    for (size_t i = 0; i < kiln_kernel_count(p); i++) puts(kiln_info(kiln_kernel_at(p, i))->target);
    puts(kiln_info(kiln_kernel_at(p, 0))->name);
    return 0;
}
)",
                                              {"tiny"});
    EXPECT_EQ(run_command({program}), "35 70 35 -4\ntiny test 1 4\nx86-64-linux\n" + std::string(nowhere) +
                                          "\nx86-64-linux\nx86-64-linux\nnet/layer\"1\n");
    const std::string libraries = run_command({"/usr/bin/ldd", program});
    const bool sanitized = *KILN_TEST_LINK_FLAGS != 0;
    for (const char *absent : {"stdc++", "Halide", "LLVM", "libgcc"}) {
        EXPECT_TRUE(sanitized || libraries.find(absent) == std::string::npos) << libraries;
    }
}

TEST_F(PackageTest, TheFallbackIsLinkedOnlyWhereItIsAskedFor) {
    Package with = package("with");
    with.fallback = true;
    ASSERT_TRUE(write_package(with, parts_, out("with")).ok());
    ASSERT_TRUE(write_package(package("without"), parts_, out("without")).ok());
    const auto has = [&](const std::string &file, const char *text) {
        return ScratchFolder::read(out(file)).find(text) != std::string::npos;
    };
    EXPECT_TRUE(has("with/lib/libwith.a", "fallback@1"));
    EXPECT_FALSE(has("without/lib/libwithout.a", "fallback@1"));
    EXPECT_TRUE(has("with/README.md", "kiln_find_or_fallback(with_package()"));
    EXPECT_FALSE(has("without/README.md", "kiln_find_or_fallback"));
    for (const char *name : {"with", "without"}) {
        const auto json = nlohmann::json::parse(ScratchFolder::read(out(name) + "/share/" + name + "/manifest.json"));
        EXPECT_EQ(json["fallback"], std::string(name) == "with");
        EXPECT_EQ(json["kernels"].size(), 4u) << "it is no kernel of the table";
    }
    // A batch of 9 has no kernel; one of 1 has its own, which is not called here: it wants packed weights.
    const std::string program = build_program(R"(
#include <stdio.h>
#include <with.h>
#include <without.h>
static void call(const kiln_package *package, int64_t batch) {
    static kiln_fallback memory;
    static char workspace[1 << 20];
    const int64_t shape[4] = {batch, 1, 1, 1}, one[4] = {1, 1, 1, 1};
    float x[9] = {5, 0, 0, 0, 0, 0, 0, 0, 6}, y[9] = {0}, weights = 7;
    const kiln_kernel *kernel;
    kiln_descriptor d;
    kiln_arguments a;
    kiln_status status;
    kiln_descriptor_init(&d, KILN_CONV, 2);
    d.batch = batch, d.channels = d.output_channels = d.spatial[0] = d.spatial[1] = d.kernel[0] = d.kernel[1] = 1;
    status = kiln_find_or_fallback(package, &d, &memory, &kernel);
    kiln_arguments_init(&a);
    a.input = kiln_tensor_dense(x, KILN_F32, 4, shape);
    a.weights = kiln_tensor_dense(&weights, KILN_F32, 4, one);
    a.output = kiln_tensor_dense(y, KILN_F32, 4, shape);
    a.workspace = workspace;
    a.workspace_bytes = sizeof workspace;
    if (kernel && !kiln_info(kernel)->packed_bytes) status = kiln_run(kernel, &a);
    printf("%s %s %g %g\n", status.detail, kernel ? kiln_info(kernel)->candidate : "-", y[0], y[8]);
}
int main(void) {
    call(with_package(), 9);
    call(with_package(), 1);
    call(without_package(), 9);
    return 0;
}
)",
                                              {"with", "without"});
    EXPECT_EQ(run_command({program}),
              "ok fallback@1 35 42\n"
              "ok direct@1/cpu_tile@1/vectors:1 0 0\n"
              "the package has no kernel for this workload and was built without --fallback - 0 0\n");
    const std::string libraries = run_command({"/usr/bin/ldd", program});
    const bool sanitized = *KILN_TEST_LINK_FLAGS != 0;
    EXPECT_TRUE(sanitized || libraries.find("stdc++") == std::string::npos) << libraries;
}

TEST_F(PackageTest, TwoPackagesLiveInOneProgram) {
    ASSERT_TRUE(write_package(package("one"), parts_, out("one")).ok());
    Package other = package("two");
    other.kernels[0] = kernel(1, 4);
    ASSERT_TRUE(write_package(other, parts_, out("two")).ok());
    const std::string program = build_program("#include <stdio.h>\n#include <one.h>\n#include <two.h>\n" + caller + R"(
int main(void) {
    const char *key = "conv2d/input:1x1x1x1/kernel:1x1x1x1";
    printf("%g %g\n", call(one_package(), key, 1, 2), call(two_package(), key, 1, 2));
    return 0;
}
)",
                                              {"one", "two"});
    EXPECT_EQ(run_command({program}), "35 140\n");
}

TEST_F(PackageTest, ExportsOneSymbol) {
    ASSERT_TRUE(write_package(package(), parts_, out("tiny")).ok());
    run_command({"/usr/bin/ar", "x", "--output", folder_ / "out", out("tiny") + "/lib/libtiny.a"});
    EXPECT_EQ(*defined_symbols(out("tiny.o")), std::vector<std::string>{"tiny_package"});
}

TEST_F(PackageTest, TheSameKernelsGiveTheSameBytes) {
    Package shuffled = package();
    std::reverse(shuffled.kernels.begin(), shuffled.kernels.end());
    ASSERT_TRUE(write_package(package(), parts_, out("a")).ok());
    fs::create_directories(folder_ / "work2/deep");
    parts_.work_folder = folder_ / "work2/deep";
    ASSERT_TRUE(write_package(shuffled, parts_, out("b")).ok());
    const auto a = files(out("a")), b = files(out("b"));
    EXPECT_EQ(a.size(), 12u);
    for (const auto &[name, bytes] : a) {
        ASSERT_TRUE(b.contains(name)) << name;
        EXPECT_TRUE(b.at(name) == bytes) << name;
        EXPECT_EQ(bytes.find(folder_ / ""), std::string::npos) << name << " has a path of this machine";
    }
}

TEST_F(PackageTest, IdenticalKernelsAreStoredOnce) {
    Package p = package();
    p.kernels = in_table_order(p.kernels);
    const auto kernels = describe_kernels(p);
    ASSERT_TRUE(kernels.ok());
    const std::string source = table_source(p, *kernels);
    const std::string declaration = "int " + symbol_prefix(kernel(1, 1).artifact.object_hash) + "kiln_compute_argv(";
    const size_t first = source.find(declaration);
    ASSERT_NE(first, std::string::npos);
    EXPECT_EQ(source.find(declaration, first + 1), std::string::npos);
}

// Linux gives tile registers for good, and then wants larger signal stacks of the whole program.
TEST_F(PackageTest, OnlyKernelsThatNeedTileRegistersAskForThem) {
    for (const char *target : {everywhere, nowhere}) {
        const Package p{"tiny", "", "", {kernel(1, 1), kernel(2, 2, target)}};
        const auto kernels = describe_kernels(p);
        ASSERT_TRUE(kernels.ok());
        const std::string source = table_source(p, *kernels);
        const bool asks = source.find("kiln::enabled_cpu_features);") != std::string::npos;
        const bool does_not = source.find("kiln::enabled_cpu_features_without_tiles);") != std::string::npos;
        EXPECT_EQ(asks, target == nowhere) << target;
        EXPECT_EQ(does_not, target == everywhere) << target;
    }
}

TEST_F(PackageTest, TheReadmeShowsEveryCallThatTheFirstWorkloadNeeds) {
    Package p{"tiny", "", "", {kernel(1, 1), kernel(1, 2, nowhere), kernel(2, 3)}};
    const auto readme = [&] { return package_readme(p, *describe_kernels(p)); };
    for (const char *line : {"status = kiln_pack(kernel, &arguments);", "status = kiln_run(kernel, &arguments);",
                             "if (status.code != KILN_OK) { puts(status.detail); return 1; }\n```"}) {
        EXPECT_NE(readme().find(line), std::string::npos) << readme();
    }
    p.kernels[2].artifact.prepared_bytes = 64;  // of another workload
    EXPECT_EQ(readme().find("prepare"), std::string::npos);
    for (const int prepares : {0, 1}) {  // a CPU gets the one or the other
        p.kernels[0].artifact.prepared_bytes = prepares == 0 ? 64 : 0;
        p.kernels[1].artifact.prepared_bytes = prepares == 1 ? 64 : 0;
        for (const char *line : {"arguments.prepared_bytes = kiln_info(kernel)->prepared_bytes;",
                                 "posix_memalign(&arguments.prepared, 64, arguments.prepared_bytes)",
                                 "status = kiln_prepare(kernel, &arguments);"}) {
            EXPECT_NE(readme().find(line), std::string::npos) << readme();
        }
    }
}

// Two versions of kiln.hpp as two packages bring them: `later` has a tensor more.
class CppHeaderTest : public PackageTest {
protected:
    void write_headers(const std::string &version, const std::string &c_header, const std::string &cpp_header) {
        fs::create_directory(folder_ / version);
        ScratchFolder::write(folder_ / (version + "/kiln.h"), c_header);
        ScratchFolder::write(folder_ / (version + "/kiln.hpp"), cpp_header);
    }

    ChildResult compile(const std::string &version) {
        const std::string source = folder_ / (version + ".cpp");
        ScratchFolder::write(source,
                             "#include <kiln.hpp>\n"
                             "void use_" +
                                 version +
                                 "(const kiln_package *package, const kiln_descriptor &d, const kiln::Operands &o) {\n"
                                 "    kiln::Layer layer(package, d, nullptr, kiln::Fallback::allowed);\n"
                                 "    layer.pack(o.weights), layer.run(o);\n"
                                 "}\n");
        ChildRequest request;
        request.arguments = {"/usr/bin/c++", "-std=c++17", "-O0", "-I",           folder_ / version,
                             "-c",           source,       "-o",  object(version)};
        return *run_child(request);
    }

    std::string object(const std::string &version) { return folder_ / (version + ".o"); }

    std::set<std::string> symbols(const std::string &version) {
        std::istringstream lines(
            run_command({"/usr/bin/nm", "--defined-only", "--extern-only", "--format=just-symbols", object(version)}));
        std::set<std::string> names;
        for (std::string name; lines >> name;) {
            if (name.find("kiln") != std::string::npos) names.insert(name);
        }
        return names;
    }
};

TEST_F(CppHeaderTest, TwoVersionsShareNoFunction) {
    const std::string c_header = ScratchFolder::read(parts_.header_folder + "/runtime/kiln.h"),
                      cpp_header = ScratchFolder::read(parts_.header_folder + "/runtime/kiln.hpp"),
                      end = "} kiln_arguments;";
    ASSERT_NE(c_header.find(end), std::string::npos);
    const std::string longer =
        std::string(c_header).replace(c_header.find(end), end.size(), "kiln_tensor later;\n" + end);
    write_headers("now", c_header, cpp_header);
    EXPECT_EQ(compile("now").code, 0);

    write_headers("later", longer, cpp_header);
    const ChildResult refused = compile("later");
    EXPECT_NE(refused.code, 0) << "the namespace must have another name";
    EXPECT_NE(refused.error_output.find("rename the namespace"), std::string::npos) << refused.error_output;

    std::smatch name;
    ASSERT_TRUE(std::regex_search(cpp_header, name, std::regex("inline namespace layout_(\\d+)")));
    const std::string number = name[1], next = std::to_string(std::stoi(number) + 2 * int(sizeof(kiln_tensor)));
    write_headers("later", longer, std::regex_replace(cpp_header, std::regex(number), next));
    EXPECT_EQ(compile("later").code, 0);
    const std::set<std::string> now = symbols("now"), later = symbols("later");
    EXPECT_GT(now.size(), 10u);
    for (const std::string &symbol : later) EXPECT_FALSE(now.contains(symbol)) << symbol;
}

TEST_F(PackageTest, SizesThatCannotBeAreRefused) {
    for (const int64_t bytes : {int64_t(-1), std::numeric_limits<int64_t>::max(), int64_t(1) << 48}) {
        for (int64_t *size : {&bad_.workspace_bytes, &bad_.workspace_bytes_per_thread, &bad_.artifact.packed_bytes,
                              &bad_.artifact.prepared_bytes}) {
            bad_ = kernel(1, 1);
            *size = bytes;
            Package p = package();
            p.kernels[0] = bad_;
            const Status written = write_package(p, parts_, out("bad"));
            ASSERT_FALSE(written.ok()) << bytes;
            EXPECT_NE(written.error().message.find(std::to_string(bytes)), std::string::npos);
            EXPECT_FALSE(fs::exists(out("bad")));
        }
    }
}

TEST_F(PackageTest, TheManifestSaysWhereKernelsComeFrom) {
    Package p = package();
    p.kernels[0].judgement = {.machine = "this one", .error_budget = 1e-5};
    p.kernels[0] = measured(p.kernels[0], 1500);
    p.kernels[3] = measured(p.kernels[3], 1500);
    p.kernels[3].stale = true;
    ASSERT_TRUE(write_package(p, parts_, out("tiny")).ok());
    const auto json = nlohmann::json::parse(ScratchFolder::read(out("tiny") + "/share/tiny/manifest.json"));
    EXPECT_EQ(json["format"], "package/1");
    EXPECT_EQ(json["name"], "tiny");
    EXPECT_EQ(json["toolchain"], "test 1");
    EXPECT_EQ(json["database"], "tuned.db");
    ASSERT_EQ(json["kernels"].size(), 4u);
    const auto &tuned = json["kernels"][0], &untuned = json["kernels"][2], &stale = json["kernels"][3];
    EXPECT_EQ(tuned["key"], "conv2d/input:1x1x1x1/kernel:1x1x1x1");
    EXPECT_EQ(tuned["tuned"], true);
    EXPECT_EQ(tuned["trial"]["id"], "0123456789abcdef0123456789abcdef");
    EXPECT_EQ(tuned["measurement"]["median"], 1500);
    EXPECT_EQ(tuned["packed_bytes"], 4);
    EXPECT_EQ(tuned["judged"]["machine"], "this one");
    EXPECT_EQ(tuned["judged"]["error_budget"], 1e-5);
    EXPECT_EQ(tuned["object_hash"], p.kernels[0].artifact.object_hash);
    EXPECT_EQ(untuned["tuned"], false);
    EXPECT_TRUE(untuned["trial"].is_null());
    EXPECT_EQ(stale["stale"], true);
    EXPECT_TRUE(stale["measurement"].is_null());
}

TEST_F(PackageTest, TheLibrariesHoldTheirManifest) {
    ASSERT_TRUE(write_package(package(), parts_, out("tiny")).ok());
    ASSERT_TRUE(write_package(package("other"), parts_, out("other")).ok());
    const std::string program = build_program(R"(
#include <stdio.h>
#include <tiny.h>
#include <other.h>
int main(void) {
    fputs(kiln_manifest(tiny_package()), stdout);
    return kiln_manifest(NULL) != NULL || kiln_manifest(other_package()) == kiln_manifest(tiny_package()) ||
           kiln_info(kiln_kernel_at(tiny_package(), 2))->place != 1;
}
)",
                                              {"tiny", "other"});
    run_command({"/usr/bin/strip", program});
    const std::string text = ScratchFolder::read(out("tiny") + "/share/tiny/manifest.json");
    EXPECT_EQ(run_command({program}), text);
    const struct {
        std::string path;
        size_t manifests;
    } rows[] = {{out("tiny"), 1}, {out("tiny/lib/libtiny.a"), 1}, {out("tiny/lib/libtiny.so"), 1}, {program, 2}};
    for (const auto &row : rows) {
        const auto found = read_manifests(row.path);
        ASSERT_TRUE(found.ok()) << row.path << found.error().message;
        EXPECT_EQ(found->size(), row.manifests) << row.path;
        for (const Manifest &manifest : *found) EXPECT_EQ(manifest.kernels.size(), 4u);
    }
}

TEST_F(PackageTest, TheSharedLibraryExportsOneSymbolAndNeedsTheCLibraryAlone) {
    ASSERT_TRUE(write_package(package(), parts_, out("tiny")).ok());
    const std::string library = out("tiny") + "/lib/libtiny.so";
    const std::string symbols = run_command({"/usr/bin/nm", "-D", "--defined-only", "--format=just-symbols", library});
    EXPECT_EQ(symbols, "tiny_package\n");
    const std::string dynamic = run_command({"/usr/bin/readelf", "-d", library});
    size_t needed = 0;
    for (size_t at = 0; (at = dynamic.find("(NEEDED)", at)) != std::string::npos; at++) needed++;
    EXPECT_TRUE(needed == 1 || *KILN_TEST_LINK_FLAGS) << dynamic;
    EXPECT_NE(dynamic.find("[libc.so.6]"), std::string::npos) << dynamic;
    EXPECT_NE(dynamic.find("[libtiny.so]"), std::string::npos) << dynamic;
}

TEST_F(PackageTest, ReplacesAnEarlierPackageAsAWhole) {
    ASSERT_TRUE(write_package(package("tiny"), parts_, out("dist")).ok());
    const auto before = files(out("dist"));
    ASSERT_TRUE(write_package({"tiny", "", "", {kernel(1, 1)}}, parts_, out("dist") + "/").ok());
    EXPECT_NE(files(out("dist")).at("lib/libtiny.a"), before.at("lib/libtiny.a"));
    std::vector<std::string> names;
    for (const auto &[name, bytes] : before) names.push_back(name);
    names.insert(std::ranges::lower_bound(names, "lib/tiny.weights"), "lib/tiny.weights");  // a network's
    EXPECT_EQ(names, package_files("tiny")) << "what kiln makes is what it may replace";
    fs::create_directory(out("empty"));
    EXPECT_TRUE(write_package(package(), parts_, out("empty")).ok());
    EXPECT_TRUE(write_package(package(), parts_, out("new/and/deep")).ok());
    EXPECT_EQ(names_in(folder_ / "out"), (std::vector<std::string>{"dist", "empty", "new"})) << "nothing is left over";
}

TEST_F(PackageTest, RefusesOutputsThatAreNotItsOwn) {
    fs::create_directories(out("mine/share/x"));
    ScratchFolder::write(out("mine/share/x/manifest.json"), "{\"format\": \"something/1\"}");
    ScratchFolder::write(out("file"), "a file");
    struct Row {
        std::string output;
        ErrorCode code;
        const char *word;
    };
    const Row rows[] = {
        {"", ErrorCode::usage, "empty name"},
        {"/", ErrorCode::usage, "root"},
        {out("mine"), ErrorCode::bad_input, "not a package"},
        {out("file"), ErrorCode::bad_input, "not a folder"},
        {out("file/below"), ErrorCode::environment, "file"},
        {"/proc/kiln/dist", ErrorCode::environment, "/proc"},
        {"/proc/dist", ErrorCode::environment, "/proc"},
    };
    for (const Row &row : rows) {
        for (const Status &status :
             {check_package_folder(row.output, "tiny"), write_package(package(), parts_, row.output)}) {
            ASSERT_FALSE(status.ok()) << row.output;
            EXPECT_EQ(status.error().code, row.code) << status.error().message;
            EXPECT_NE(status.error().message.find(row.word), std::string::npos) << status.error().message;
        }
    }
    EXPECT_EQ(names_in(folder_ / "out"), (std::vector<std::string>{"file", "mine"}));
    EXPECT_EQ(ScratchFolder::read(out("mine/share/x/manifest.json")), "{\"format\": \"something/1\"}");
}

// Each of these fails half-way; the output and what lies beside it stay as they were.
TEST_F(PackageTest, AFailureLeavesTheOldPackage) {
    ASSERT_TRUE(write_package(package(), parts_, out("dist")).ok());
    const auto before = files(out("dist"));

    Package unknown_call = package();
    unknown_call.kernels[0].artifact.code = ObjectFile{
        compile_c(folder_, "unknown",
                  "int halide_print(void);\nint kiln_compute_argv(void **a) { return a ? halide_print() : 0; }\n"
                  "int kiln_pack_argv(void **a) { return a ? 0 : 1; }\n")};
    unknown_call.kernels[0].artifact.object_hash = "unknown";
    Status status = write_package(unknown_call, parts_, out("dist"));
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, ErrorCode::unsupported);
    EXPECT_NE(status.error().message.find("halide_print"), std::string::npos) << status.error().message;

    Package sources = package();
    sources.kernels[0].artifact.code = CSources{{"kernel.c"}, "clang 19 --target=riscv64"};
    sources.kernels[0].artifact.object_hash = "sources";
    status = write_package(sources, parts_, out("dist"));
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, ErrorCode::unsupported);
    EXPECT_NE(status.error().message.find("C source for clang 19"), std::string::npos) << status.error().message;

    Package unknown_feature = package();
    unknown_feature.kernels[0].target.halide += "-fma4";
    status = write_package(unknown_feature, parts_, out("dist"));
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, ErrorCode::unsupported);

    EXPECT_EQ(write_package({"none", "", "", {}}, parts_, out("dist")).error().code, ErrorCode::unsupported);

    const char *previous = std::getenv("CXX");
    const std::string saved = previous ? previous : "";
    setenv("CXX", "/nowhere/c++ -m64", 1);
    status = write_package(package(), parts_, out("dist"));
    previous ? setenv("CXX", saved.c_str(), 1) : unsetenv("CXX");
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, ErrorCode::environment);
    EXPECT_NE(status.error().message.find("/nowhere/c++"), std::string::npos) << status.error().message;

    EXPECT_TRUE(files(out("dist")) == before);
    EXPECT_EQ(names_in(folder_ / "out"), std::vector<std::string>{"dist"});
}

}  // namespace
}  // namespace kiln
