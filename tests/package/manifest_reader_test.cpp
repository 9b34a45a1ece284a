#include "package/manifest_reader.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "package/manifest.h"
#include "tests/database/scratch_folder.h"

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;

Package sample_package() {
    PackagedKernel plain;
    plain.workload = {"net", "a", 2, convolution({1, 8, 8, 4}, {3, 3, 4, 16})};
    plain.target = {"x86-64-linux", 1};
    plain.candidate = "direct@1/cpu_tile@2/pixels:2";
    plain.artifact.object_hash = "00000000000000000000000000000001";
    plain.why_place = "the only kernel of this workload";
    PackagedKernel tuned = plain;
    tuned.workload = {"net", "b", 1, convolution({1, 9, 9, 4}, {3, 3, 4, 16})};
    tuned.best.emplace();
    tuned.best->trial.id = "0123456789abcdef0123456789abcdef";
    tuned.best->evidence = "race";
    tuned.best->measurement.machine = "a machine";
    tuned.best->measurement.metric = Metric::ns;
    tuned.best->measurement.samples = {990, 1000, 1000, 1000, 1000, 1010, 1000, 1000};
    tuned.best->measurement.median = 1000;
    tuned.race.emplace();
    tuned.race->id = "fedcba9876543210fedcba9876543210";
    tuned.race->entries = {{tuned.best->trial.id, 1, 1, 1, {1000, 1000}}, {"second", 1.02, 1.01, 1.03, {1020, 1020}}};
    return {"tiny", "test 1", "tuned.db", {plain, tuned}, "11112222333344445555666677778888"};
}

std::string fact(const ManifestKernel &kernel, const std::string &name) {
    for (const auto &[fact, value] : kernel.facts) {
        if (fact == name) return value;
    }
    return "no such fact";
}

TEST(ManifestReader, ReadsWhatWasWritten) {
    const auto manifest = parse_manifest(manifest_text(sample_package()), "m.json");
    ASSERT_TRUE(manifest.ok()) << manifest.error().message;
    EXPECT_EQ(manifest->name, "tiny");
    EXPECT_EQ(manifest->toolchain, "test 1");
    EXPECT_EQ(manifest->database, "tuned.db");
    EXPECT_EQ(manifest->database_digest, "11112222333344445555666677778888");
    ASSERT_EQ(manifest->kernels.size(), 2u);
    const ManifestKernel &plain = manifest->kernels[0], &tuned = manifest->kernels[1];
    EXPECT_EQ(plain.layer, "net/a");
    EXPECT_FALSE(plain.tuned);
    EXPECT_FALSE(plain.median);
    EXPECT_EQ(plain.trial, "");
    EXPECT_EQ(fact(plain, "count"), "2");
    EXPECT_EQ(fact(plain, "measurement"), "");
    EXPECT_TRUE(tuned.tuned);
    EXPECT_EQ(tuned.median, 1000);
    EXPECT_LE(*tuned.median_lo, 1000);
    EXPECT_GE(*tuned.median_hi, 1000);
    EXPECT_EQ(tuned.evidence, "race");
    EXPECT_EQ(fact(tuned, "race.runner_up.ratio"), "1.02");
    EXPECT_EQ(fact(tuned, "race.rounds"), "2");
}

TEST(ManifestReader, TheFallback) {
    Package package = sample_package();
    EXPECT_FALSE(parse_manifest(manifest_text(package), "m.json")->fallback);
    package.fallback = true;
    EXPECT_TRUE(parse_manifest(manifest_text(package), "m.json")->fallback);
    Json older = Json::parse(manifest_text(package));
    older.erase("fallback");
    EXPECT_FALSE(parse_manifest(older.dump(), "m.json")->fallback);
}

TEST(ManifestReader, RefusesWithTheFieldsName) {
    const struct {
        std::function<void(Json &)> change;
        const char *message;
    } rows[] = {
        {[](Json &m) { m.erase("format"); }, "m.json: format: is missing"},
        {[](Json &m) { m["format"] = "package/9"; }, "m.json: format: `package/9` is not known to this kiln"},
        {[](Json &m) { m["format"] = 1; }, "m.json: format: needs a text"},
        {[](Json &m) { m["name"] = nullptr; }, "m.json: name: needs a text"},
        {[](Json &m) { m["database"] = 5; }, "m.json: database: needs a text; got 5"},
        {[](Json &m) { m["fallback"] = "yes"; }, "m.json: fallback: needs true or false"},
        {[](Json &m) { m.erase("kernels"); }, "m.json: kernels: is missing"},
        {[](Json &m) { m["kernels"] = Json::object(); }, "m.json: kernels: needs a list"},
        {[](Json &m) { m["kernels"] = Json::array(); }, "m.json: kernels: is empty"},
        {[](Json &m) { m["kernels"][1] = 3; }, "m.json: kernels[1]: needs an object"},
        {[](Json &m) { m["kernels"][0].erase("key"); }, "m.json: kernels[0]: key: is missing"},
        {[](Json &m) { m["kernels"][0]["tuned"] = "yes"; }, "m.json: kernels[0]: tuned: needs true or false"},
        {[](Json &m) { m["kernels"][1]["trial"] = "x"; }, "m.json: kernels[1]: trial: needs an object or null"},
        {[](Json &m) { m["kernels"][1]["trial"].erase("id"); }, "m.json: kernels[1]: trial: id: is missing"},
        {[](Json &m) { m["kernels"][1]["measurement"]["median"] = "1"; },
         "m.json: kernels[1]: measurement: median: needs a number"},
    };
    for (const auto &row : rows) {
        Json json = Json::parse(manifest_text(sample_package()));
        row.change(json);
        const auto manifest = parse_manifest(json.dump(), "m.json");
        ASSERT_FALSE(manifest.ok()) << row.message;
        EXPECT_EQ(manifest.error().code, ErrorCode::bad_input);
        EXPECT_EQ(manifest.error().message.rfind(row.message, 0), 0u) << manifest.error().message;
    }
    const auto deep = parse_manifest("{\"format\": " + std::string(1'000'000, '['), "m.json");
    ASSERT_FALSE(deep.ok());
    EXPECT_EQ(deep.error().message, "m.json: not a manifest: is nested more than 64 levels deep");
    for (const char *text : {"", "{", "[]", "\"package/1\"", "{\"format\": \"package/1\"", "\xff\xfe"}) {
        EXPECT_FALSE(parse_manifest(text, "m.json").ok()) << text;
    }
}

TEST(ManifestReader, IgnoresFieldsOfLaterVersions) {
    Json json = Json::parse(manifest_text(sample_package()));
    json["colour"] = "blue";
    json["kernels"][0]["shape"] = {1, 2, {{"x", nullptr}}};
    const auto manifest = parse_manifest(json.dump(), "m.json");
    ASSERT_TRUE(manifest.ok()) << manifest.error().message;
    EXPECT_EQ(fact(manifest->kernels[0], "shape"), "[1,2,{\"x\":null}]");
}

TEST(ManifestReader, FindsThemInFoldersAndBinaries) {
    const ScratchFolder folder;
    const std::string text = manifest_text(sample_package());
    std::filesystem::create_directories(folder / "dist/share/tiny");
    ScratchFolder::write(folder / "dist/share/tiny/manifest.json", text);
    std::string binary(
        "\x7f"
        "ELF\0\1\2",
        7);
    for (int i = 0; i < 2; i++) binary += std::string("{\n  \"format\": ") + '\0' + text + '\0' + "code";
    ScratchFolder::write(folder / "program", binary);
    std::filesystem::create_directories(folder / "empty");
    ScratchFolder::write(folder / "noise", "nothing of ours");
    ScratchFolder::write(folder / "cut", std::string(1, '\0') + text.substr(0, text.size() / 2));
    const std::string blanks(size_t{64} << 20, ' ');  // what a manifest may have, and no byte behind them that ends it
    ScratchFolder::write(folder / "long", std::string(1, '\0') + text.substr(0, text.find("\"name\"")) + blanks);
    const struct {
        const char *path;
        size_t manifests;
        const char *message;
    } rows[] = {
        {"dist", 1, ""},
        {"dist/share/tiny/manifest.json", 1, ""},
        {"program", 2, ""},
        {"empty", 0, "not a package"},
        {"missing", 0, "does not exist"},
        {"noise", 0, "neither the manifest of a package"},
        {"cut", 0, "not a manifest: not JSON: parse error"},
        {"long", 0, "holds a manifest that is too large"},
    };
    for (const auto &row : rows) {
        const auto found = read_manifests(folder / row.path);
        EXPECT_EQ(found.ok(), row.manifests > 0) << row.path;
        if (found.ok()) {
            EXPECT_EQ(found->size(), row.manifests) << row.path;
        } else {
            EXPECT_EQ(found.error().code, ErrorCode::bad_input);
            EXPECT_NE(found.error().message.find(folder / row.path), std::string::npos) << found.error().message;
            EXPECT_NE(found.error().message.find(row.message), std::string::npos) << found.error().message;
        }
    }
    EXPECT_FALSE(read_manifests("/dev/null").ok());
}

}  // namespace
}  // namespace kiln
