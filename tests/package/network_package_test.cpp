// Packages of a network of small kernels written in C: what is written, that a C program binds and runs it, and what is
// refused.
#include "package/network/network_package.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "digest/content_digest.h"
#include "package/manifest_reader.h"
#include "tests/build_paths.h"
#include "tests/tuner/build/compiled_object.h"
#include "tests/tuner/job/fake_workshop.h"
#include "tuner/build/object_file.h"

namespace kiln {
namespace fs = std::filesystem;

namespace {

using graph::Place;
constexpr const char *everywhere = "x86-64-linux", *wide = "x86-64-linux-avx-avx2-avx512-avx512_sapphirerapids";

// output = 10 x input x packed weight; packed: minus the weight.
constexpr const char *kernel_source =
    "#include <HalideRuntime.h>\n"
    "static float *data(void **a, int i) { return (float *)((halide_buffer_t *)a[i])->host; }\n"
    "int kiln_compute_argv(void **a) { data(a, 3)[0] = 10 * data(a, 1)[0] * data(a, 2)[0]; return 0; }\n"
    "int kiln_pack_argv(void **a) { data(a, 2)[0] = -data(a, 1)[0]; return 0; }\n";

class TinyBuilder : public Builder {
public:
    TinyBuilder() {
        const std::string object =
            compile_c(folder_, "kernel", kernel_source, {"-isystem", KILN_HALIDE_RUNTIME_HEADER});
        artifact_.code = ObjectFile{object};
        artifact_.object_hash = *object_hash(object);
        artifact_.packed_bytes = 4;
    }
    Result<BuildResult> build(const BuildRequest &) override { return BuildResult{artifact_, 0}; }
    const std::string &toolchain() const override { return version_; }

private:
    ScratchFolder folder_;
    Artifact artifact_;
    std::string version_ = "test 1";
};

// Does what the kernel's function does.
class TinyPacker : public WeightsPacker {
public:
    Result<Attempt<bool>> pack(const PackRequest &request) override {
        packed++;
        if (fails) return Attempt<bool>{failure(TrialStatus::crash), 0};
        float value = 0;
        const std::string bytes = ScratchFolder::read(request.weights);
        EXPECT_EQ(bytes.size(), sizeof value);
        memcpy(&value, bytes.data(), sizeof value);
        value = -value;
        ScratchFolder::write(request.packed, std::string(reinterpret_cast<const char *>(&value), sizeof value));
        return Attempt<bool>{true, 0};
    }
    int packed = 0;
    bool fails = false;
};

graph::ConstantData one_float(float value) {
    const auto *bytes = reinterpret_cast<const std::byte *>(&value);
    return graph::ConstantData(std::vector<std::byte>(bytes, bytes + sizeof value));
}

// y = (10 x (-3) (10 (-3) x), 7): two calls of one kernel with equal weights, then copies.
network::Program program() {
    network::Program p;
    p.name = "tiny */ net";
    const graph::TypedShape one{graph::Element::f32, {1, 1, 1, 1}};
    p.inputs = {{"x \"in\"", one}};
    p.outputs = {{"y", {graph::Element::f32, {2}}}};
    p.constants = {{"w", one_float(3)}, {"same as w", one_float(3)}, {"seven", one_float(7)}};
    const Workload conv = convolution({1, 1, 1, 1}, {1, 1, 1, 1});
    const Place x{Place::Memory::input, 0, 0}, t{Place::Memory::workspace, 0, 0}, u{Place::Memory::workspace, 0, 64};
    const auto constant = [](int i) { return Place{Place::Memory::constant, i, 0}; };
    const auto y = [](int64_t offset) { return Place{Place::Memory::output, 0, offset}; };
    p.steps = {{"first", {"a"}, network::KernelCall{conv, {x, constant(0)}, t}},
               {"second", {"b", "c"}, network::KernelCall{conv, {t, constant(1)}, u}},
               {"copy", {}, network::Copy{u, y(0), 2, 2, 2, 2}},
               {"nothing", {}, network::Copy{u, y(0), 0, 4, 0, 0}},
               {"seven", {}, network::Copy{constant(2), y(4), 1, 4, 0, 0}}};
    p.workspace = 68;
    p.workspace_lower_bound = 8;
    return p;
}

class NetworkPackageTest : public testing::Test {
protected:
    NetworkPackageTest() {
        const fs::path root = fs::path(binary_dir()).parent_path();
        parts_.runtime_library = root / "lib/libkiln_kernel_runtime.a";
        parts_.header_folder = root / "include/kiln";
        parts_.work_folder = folder_ / "work";
        fs::create_directory(parts_.work_folder);
    }

    Result<Package> make(const network::Program &p, const std::string &name, bool embeds = false) {
        const CollectEnvironment environment{
            .builder = builder_, .runner = shop_.runner, .machine = shop_.machine, .interrupted = shop_.interrupted};
        return make_network_package({p, {{everywhere, 1}, {wide, 1}}, name, embeds}, {environment, packer_, parts_},
                                    [](const KernelReport &) {});
    }

    std::string write(const std::string &name, bool embeds = false) { return write(program(), name, embeds); }
    std::string write(const network::Program &p, const std::string &name, bool embeds = false) {
        Result<Package> package = make(p, name, embeds);
        EXPECT_TRUE(package.ok()) << package.error().message;
        const Status written = package.ok() ? write_package(*package, parts_, folder_ / name) : Status();
        EXPECT_TRUE(written.ok()) << written.error().message;
        return folder_ / name;
    }

    // What a C program prints that is linked with the package.
    std::string run(const std::string &package, const std::string &source, const std::string &argument) {
        const std::string name = fs::path(package).filename();
        ScratchFolder::write(folder_ / "program.c", "#include <stdio.h>\n#include <" + name + ".h>\n" + source);
        std::vector<std::string> command = {"/usr/bin/cc",
                                            "-std=c99",
                                            "-pedantic-errors",
                                            "-Wall",
                                            "-Wextra",
                                            "-Werror",
                                            folder_ / "program.c",
                                            "-o",
                                            folder_ / "program",
                                            "-I",
                                            package + "/include",
                                            package + "/lib/lib" + name + ".a",
                                            "-lm",
                                            "-pthread"};
        if (*KILN_TEST_LINK_FLAGS) command.push_back(KILN_TEST_LINK_FLAGS);
        run_command(command);
        return run_command({folder_ / "program", argument});
    }

    ScratchFolder folder_;
    PackageParts parts_;
    TinyBuilder builder_;
    TinyPacker packer_;
    FakeWorkshop shop_;
};

std::string caller(const std::string &name, const std::string &upper, bool embeds) {
    return R"(
static char workspace[)" +
           upper + R"(_NETWORK_WORKSPACE_BYTES(1)];
int main(int count, char **arguments) {
    const kiln_network *network = )" +
           name + R"(_network();
    const kiln_network_info *info = kiln_describe_network(network);
    float x = 2, y[2] = {0, 0};
    const void *inputs[1];
    void *outputs[1];
    kiln_network_arguments a;
    kiln_weights weights = {NULL, 0};
    kiln_bound_network bound;
    kiln_status status = {0, 0, 0, "ok"};
    kiln_network_arguments_init(&a);
    inputs[0] = &x, outputs[0] = y, a.inputs = inputs, a.outputs = outputs;
    a.workspace = workspace, a.workspace_bytes = sizeof workspace;
    )" + (embeds ? "(void)arguments;" : "if (count == 2) status = kiln_map_weights(network, arguments[1], &weights);") +
           R"(
    if (status.code == KILN_OK) status = kiln_bind_network(network, weights.data, weights.bytes, &bound);
    if (status.code == KILN_OK) status = kiln_run_network(&bound, &a);
    printf("%d %g %g\n", status.code, y[0], y[1]);
    if (status.code == KILN_OK) puts(kiln_bound_variant(&bound)->target);
    printf("%s|%s|%d|%d|%d\n", info->name, info->inputs[0].name, (int)info->outputs[0].shape[0], (int)info->variant_count,
           kiln_network_workspace_bytes(network, 1) <= sizeof workspace);
    return count < 0;
}
)";
}

TEST_F(NetworkPackageTest, ACProgramBindsAndRunsIt) {
    const std::string facts = "tiny */ net|x \"in\"|2|2|1\n";
    const std::string tiny = write("tiny"), other = write("other");
    EXPECT_EQ(packer_.packed, 2 * 2) << "equal weights are not packed twice unless they lie apart";
    const std::string source = caller("tiny", "TINY", false);
    EXPECT_EQ(run(tiny, source, tiny + "/lib/tiny.weights"), "0 1800 7\nx86-64-linux\n" + facts);
    EXPECT_EQ(run(tiny, source, other + "/lib/other.weights"), "0 1800 7\nx86-64-linux\n" + facts) << "the same plan";
    EXPECT_EQ(run(tiny, source, tiny + "/lib/none"), "19 0 0\n" + facts);
    network::Program changed = program();
    changed.constants[2].data = one_float(8);
    const std::string third = write(changed, "third");
    EXPECT_EQ(run(tiny, source, third + "/lib/third.weights"), "18 0 0\n" + facts);
    const std::string emb = write("emb", true);
    EXPECT_FALSE(fs::exists(emb + "/lib/emb.weights"));
    EXPECT_EQ(run(emb, caller("emb", "EMB", true), "-"), "0 1800 7\nx86-64-linux\n" + facts);
}

TEST_F(NetworkPackageTest, WeightsAreStoredOnceAndAligned) {
    const Result<Package> package = make(program(), "tiny");
    ASSERT_TRUE(package.ok()) << package.error().message;
    const PackagedNetwork &network = package->networks.front();
    ASSERT_EQ(network.sections.size(), 2u);
    for (const StoredSection &section : network.sections) EXPECT_EQ(section.offset % 64, 0);
    EXPECT_EQ(network.program.steps.size(), 4u) << "what writes nothing is left out";
    EXPECT_EQ(network.variants[0].target.halide, wide) << "the one with more features first";
    const std::string bytes = ScratchFolder::read(network.weights_file);
    EXPECT_EQ(int64_t(bytes.size()), network.weights_bytes);
    float packed = 0;
    memcpy(&packed, bytes.data() + network.variants[1].steps[0][1].offset, sizeof packed);
    EXPECT_EQ(packed, -3);
}

TEST_F(NetworkPackageTest, TheReadmeSaysHowLargeTheWeightsAre) {
    const std::string tiny = write("tiny"), readme = ScratchFolder::read(tiny + "/README.md");
    const auto bytes = fs::file_size(tiny + "/lib/tiny.weights");
    ASSERT_LT(bytes, 1000u);
    EXPECT_NE(readme.find("The weights (" + std::to_string(bytes) + " bytes) are the file"), std::string::npos)
        << readme;
}

TEST_F(NetworkPackageTest, TheSameNetworkGivesTheSameBytes) {
    const std::string first = write("tiny");
    parts_.work_folder = folder_ / "elsewhere";
    fs::create_directory(parts_.work_folder);
    fs::rename(first, folder_ / "before");
    const std::string second = write("tiny");
    int files = 0;
    for (const auto &entry : fs::recursive_directory_iterator(second)) {
        if (!entry.is_regular_file()) continue;
        files++;
        const std::string path = fs::relative(entry.path(), second);
        EXPECT_TRUE(ScratchFolder::read(entry.path()) == ScratchFolder::read(folder_ / ("before/" + path))) << path;
    }
    EXPECT_EQ(files, 13);
}

TEST_F(NetworkPackageTest, TheManifestHasTheNetwork) {
    const std::string tiny = write("tiny");
    const auto json = nlohmann::json::parse(ScratchFolder::read(tiny + "/share/tiny/manifest.json"))["network"];
    EXPECT_EQ(json["name"], "tiny */ net");
    EXPECT_EQ(json["inputs"][0]["shape"], (std::vector<int>{1, 1, 1, 1}));
    EXPECT_EQ(json["weights"]["file"], "tiny.weights");
    EXPECT_EQ(json["weights"]["sections"], 2);
    EXPECT_EQ(json["plan_lower_bound"], 8);
    ASSERT_EQ(json["variants"].size(), 2u);
    const auto &steps = json["variants"][1]["steps"];
    EXPECT_EQ(steps[1]["origins"], (std::vector<std::string>{"b", "c"}));
    EXPECT_EQ(steps[0]["kernel"], steps[1]["kernel"]);
    EXPECT_TRUE(steps[2]["kernel"].is_null());
    const auto read = read_manifests(tiny + "/lib/libtiny.so");
    ASSERT_TRUE(read.ok() && read->size() == 1 && read->front().network) << "the library holds it, too";
    const ManifestNetwork &network = *read->front().network;
    EXPECT_EQ(network.plan, json["plan"]);
    EXPECT_EQ(network.weights, "tiny.weights");
    const std::string bytes = ScratchFolder::read(tiny + "/lib/tiny.weights");
    EXPECT_EQ(network.weights_digest, digest_of(std::as_bytes(std::span(bytes))));
    EXPECT_EQ(network.variants, 2u);
}

TEST_F(NetworkPackageTest, ANetworkOfCopiesNeedsNoKernel) {
    network::Program copies = program();
    copies.steps = {
        {"seven", {}, network::Copy{{Place::Memory::constant, 2, 0}, {Place::Memory::output, 0, 0}, 2, 4, 0, 4}}};
    const std::string tiny = write(copies, "tiny");
    EXPECT_EQ(run(tiny, caller("tiny", "TINY", false), tiny + "/lib/tiny.weights").substr(0, 6), "0 7 7\n");
}

// One element that is copied into the network's input.
network::Program preparation() {
    network::Program p = program();
    p.inputs[0].name = "given";
    p.outputs = {{program().inputs[0]}};
    p.steps = {{"move", {}, network::Copy{{Place::Memory::input, 0, 0}, {Place::Memory::output, 0, 0}, 1, 4, 4, 4}}};
    p.constants = {};
    return p;
}

TEST_F(NetworkPackageTest, WhatPreparesTheInputsIsANetworkOfItsOwn) {
    const network::Program network = program(), before = preparation();
    const CollectEnvironment environment{
        .builder = builder_, .runner = shop_.runner, .machine = shop_.machine, .interrupted = shop_.interrupted};
    const Result<Package> package = make_network_package(
        {.program = network, .targets = {{wide, 1}, {everywhere, 1}}, .name = "tiny", .preparation = &before},
        {environment, packer_, parts_}, [](const KernelReport &) {});
    ASSERT_TRUE(package.ok()) << package.error().message;
    const std::string tiny = folder_ / "tiny";
    const Status written = write_package(*package, parts_, tiny);
    ASSERT_TRUE(written.ok()) << written.error().message;
    constexpr const char *source = R"(
static char preparing[TINY_PREPARE_WORKSPACE_BYTES(1)], workspace[TINY_NETWORK_WORKSPACE_BYTES(1)];
int main(int count, char **arguments) {
    float given = 2, x = 0, y[2] = {0, 0};
    const void *givens[1], *inputs[1];
    void *prepared[1], *outputs[1];
    kiln_network_arguments before = {sizeof before, NULL, NULL, preparing, sizeof preparing, NULL, NULL};
    kiln_network_arguments run = {sizeof run, NULL, NULL, workspace, sizeof workspace, NULL, NULL};
    kiln_weights weights = {NULL, 0};
    kiln_bound_network preparation, network;
    kiln_status status = kiln_map_weights(tiny_network(), arguments[count - 1], &weights);
    givens[0] = &given, prepared[0] = &x, before.inputs = givens, before.outputs = prepared;
    inputs[0] = &x, outputs[0] = y, run.inputs = inputs, run.outputs = outputs;
    if (status.code == KILN_OK) status = kiln_bind_network(tiny_prepare(), NULL, 0, &preparation);
    if (status.code == KILN_OK) status = kiln_bind_network(tiny_network(), weights.data, weights.bytes, &network);
    if (status.code == KILN_OK) status = kiln_run_network(&preparation, &before);
    if (status.code == KILN_OK) status = kiln_run_network(&network, &run);
    printf("%d %g %g %s\n", status.code, y[0], y[1], kiln_describe_network(tiny_prepare())->inputs[0].name);
    return 0;
}
)";
    EXPECT_EQ(run(tiny, source, tiny + "/lib/tiny.weights"), "0 1800 7 given\n");
    const auto read = read_manifests(tiny);
    ASSERT_TRUE(read.ok() && read->size() == 1) << read.error().message;
    ASSERT_TRUE(read->front().network && read->front().preparation);
    EXPECT_EQ(read->front().preparation->weights, "") << "the library holds what it needs";
    const std::string readme = ScratchFolder::read(tiny + "/README.md");
    EXPECT_NE(readme.find("whose symbols are\n`tiny_package`, `tiny_network`, `tiny_prepare`."), std::string::npos)
        << readme;
    EXPECT_EQ(run_command({"/usr/bin/nm", "-D", "--defined-only", "--format=just-symbols", tiny + "/lib/libtiny.so"}),
              "tiny_network\ntiny_package\ntiny_prepare\n");
    EXPECT_EQ(read->front().network->weights, "tiny.weights");
}

TEST_F(NetworkPackageTest, ProgramsThatReachOutsideAreRefused) {
    const struct {
        const char *what;
        std::function<void(network::Program &)> spoil;
    } cases[] = {
        {"workspace", [](auto &p) { p.workspace = 67; }},
        {"constant", [](auto &p) { p.constants.pop_back(); }},
        {"input", [](auto &p) { p.inputs[0].form.shape = {0}; }},
        {"output", [](auto &p) { p.outputs[0].form.shape = {1}; }},
        {"offset", [](auto &p) { std::get<network::Copy>(p.steps[2].work).from.offset = -1; }},
        {"rows", [](auto &p) { std::get<network::Copy>(p.steps[2].work).rows = -1; }},
        {"operands", [](auto &p) { std::get<network::KernelCall>(p.steps[0].work).operands.pop_back(); }},
        {"an input is written",
         [](auto &p) {
             std::get<network::KernelCall>(p.steps[0].work).result = {Place::Memory::input, 0, 0};
         }},
    };
    for (const auto &c : cases) {
        network::Program p = program();
        c.spoil(p);
        const Result<Package> package = make(p, "tiny");
        ASSERT_FALSE(package.ok()) << c.what;
        EXPECT_NE(package.error().message.find("fault of kiln's"), std::string::npos) << package.error().message;
    }
}

TEST_F(NetworkPackageTest, AKernelThatCannotPackIsNamed) {
    packer_.fails = true;
    const Result<Package> package = make(program(), "tiny");
    ASSERT_FALSE(package.ok());
    EXPECT_NE(package.error().message.find("first: its weights cannot be packed: made to fail"), std::string::npos)
        << package.error().message;
}

}  // namespace
}  // namespace kiln
