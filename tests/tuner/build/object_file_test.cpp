#include "tuner/build/object_file.h"

#include "tests/tuner/build/compiled_object.h"

namespace kiln {
namespace {

const std::string source =
    "extern float expf(float);\n"
    "static const float table[2] = {1.5f, 2.5f};\n"
    "static float twice(float x) { return 2 * expf(x) + table[(int)x & 1]; }\n"
    "int kiln_compute_argv(void **a) { *(float *)a[1] = twice(*(float *)a[0]); return 0; }\n"
    "int kiln_pack_argv(void **a) { *(float *)a[1] = *(float *)a[0]; return 0; }\n";

std::string replaced(std::string text, const std::string &from, const std::string &to) {
    size_t at = 0;
    while ((at = text.find(from, at)) != std::string::npos) {
        text.replace(at, from.size(), to);
        at += to.size();
    }
    return text;
}

struct HashRow {
    const char *what, *from, *to;
    std::vector<std::string> flags;
    bool same;
};

TEST(ObjectHash, CoversWhatRunsAndNotWhatItIsCalled) {
    const HashRow rows[] = {
        {"the same source", "", "", {}, true},
        {"other local names", "twice", "another_name", {}, true},
        {"debug information", "", "", {"-g"}, true},
        {"another constant in code", "2 *", "3 *", {}, false},
        {"another constant in data", "2.5f", "2.25f", {}, false},
        {"another function called", "expf", "logf", {}, false},
        {"entry points swapped", "kiln_compute_argv", "other_argv", {}, false},
        {"other code", "", "", {"-O0"}, false},
        {"another alignment", "table[2]", "table[2] __attribute__((aligned(64)))", {}, false},
    };
    const ScratchFolder folder;
    const auto reference = object_hash(compile_c(folder, "reference", source));
    ASSERT_TRUE(reference.ok());
    EXPECT_EQ(reference->size(), 32u);
    int i = 0;
    for (const HashRow &row : rows) {
        const std::string text = *row.from ? replaced(source, row.from, row.to) : source;
        const auto hash = object_hash(compile_c(folder, "variant" + std::to_string(i++), text, row.flags));
        ASSERT_TRUE(hash.ok()) << hash.error().message;
        EXPECT_EQ(*hash == *reference, row.same) << row.what;
    }
}

TEST(ObjectHash, SwappedEntryPointsDiffer) {
    const ScratchFolder folder;
    std::string swapped = replaced(source, "kiln_compute_argv", "x");
    swapped = replaced(swapped, "kiln_pack_argv", "kiln_compute_argv");
    swapped = replaced(swapped, "int x(", "int kiln_pack_argv(");
    EXPECT_NE(*object_hash(compile_c(folder, "a", source)), *object_hash(compile_c(folder, "b", swapped)));
}

TEST(ObjectHash, IgnoresOtherGlobalNames) {
    const ScratchFolder folder;
    const std::string text = "int par_for_1(int x) { return x + 1; }\nint other(int x) { return par_for_1(x) * 2; }\n";
    EXPECT_EQ(*object_hash(compile_c(folder, "a", text, {"-fno-inline", "-fvisibility=hidden"})),
              *object_hash(compile_c(folder, "b", replaced(text, "par_for_1", "par_for_2"),
                                     {"-fno-inline", "-fvisibility=hidden"})));
}

TEST(ObjectSymbols, AreGlobalAndSorted) {
    const ScratchFolder folder;
    const std::string object = compile_c(folder, "object", source);
    EXPECT_EQ(*defined_symbols(object), (std::vector<std::string>{"kiln_compute_argv", "kiln_pack_argv"}));
    const auto undefined = undefined_symbols(object);
    ASSERT_TRUE(undefined.ok());
    EXPECT_NE(std::find(undefined->begin(), undefined->end(), "expf"), undefined->end());
    for (const std::string &name : *undefined) EXPECT_EQ(name.find("kiln"), std::string::npos);
}

TEST(ObjectFile, RefusesWhatIsNoObject) {
    const ScratchFolder folder;
    const std::string good = ScratchFolder::read(compile_c(folder, "good", source));
    std::string executable = good, big_endian = good, narrow = good;
    executable[16] = 2;  // e_type
    big_endian[5] = 2;   // EI_DATA
    narrow[4] = 1;       // EI_CLASS
    const std::string mach_o = "\xcf\xfa\xed\xfe" + std::string(60, '\0');
    const struct {
        const char *what;
        std::string bytes;
        const char *message;
    } files[] = {
        {"empty", "", "too short"},
        {"text", "int main(void) { return 0; } // long enough for a header of an object\n", "not an ELF object"},
        {"header only", good.substr(0, 64), "damaged"},
        {"too short",
         "\x7f"
         "ELF",
         "too short"},
        {"executable", executable, "no relocatable object"},
        {"big endian", big_endian, "big-endian"},
        {"32 bits", narrow, "of 32 bits; kiln reads those of 64 bits only"},
        {"Mach-O", mach_o, "a Mach-O object; kiln reads ELF objects only"},
        {"archive", "!<arch>\n" + std::string(60, ' '), "an archive"},
    };
    for (const auto &[what, bytes, message] : files) {
        const std::string path = folder / "bad.o";
        ScratchFolder::write(path, bytes);
        const auto hash = object_hash(path);
        ASSERT_FALSE(hash.ok()) << what;
        EXPECT_EQ(hash.error().code, ErrorCode::bad_input);
        EXPECT_NE(hash.error().message.find(path), std::string::npos) << hash.error().message;
        EXPECT_NE(hash.error().message.find(message), std::string::npos) << hash.error().message;
        EXPECT_FALSE(undefined_symbols(path).ok()) << what;
    }
    EXPECT_EQ(object_hash(folder / "missing.o").error().code, ErrorCode::environment);
}

// No byte of a damaged object leads outside of it (the sanitizer build watches).
TEST(ObjectFile, SurvivesDamage) {
    const ScratchFolder folder;
    const std::string good = ScratchFolder::read(compile_c(folder, "good", source));
    const std::string path = folder / "damaged.o";
    for (size_t i = 0; i < good.size(); i += 7) {
        std::string damaged = good;
        damaged[i] = static_cast<char>(~damaged[i]);
        ScratchFolder::write(path, damaged);
        (void)object_hash(path).ok();
        (void)undefined_symbols(path).ok();
    }
    for (size_t size = 0; size < good.size(); size += 97) {
        ScratchFolder::write(path, good.substr(0, size));
        (void)object_hash(path).ok();
    }
}

}  // namespace
}  // namespace kiln
