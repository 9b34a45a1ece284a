#include "tuner/build/object_file.h"

#include <elf.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "digest/content_digest.h"
#include "runtime/kernel_abi.h"

namespace kiln {
namespace {

// A checked view of a 64-bit little-endian relocatable object: nothing below trusts an offset that is not checked here.
class ElfObject {
public:
    static Result<ElfObject> read(const std::string &path);

    const std::vector<Elf64_Shdr> &sections() const { return sections_; }
    const std::vector<Elf64_Sym> &symbols() const { return symbols_; }
    std::string_view name(const Elf64_Sym &symbol) const { return names_[&symbol - symbols_.data()]; }

    std::string_view content(const Elf64_Shdr &section) const {
        if (section.sh_type == SHT_NOBITS) return {};
        return std::string_view(bytes_).substr(section.sh_offset, section.sh_size);
    }

    template<typename T>
    std::vector<T> entries(const Elf64_Shdr &section) const {
        const std::string_view text = content(section);
        std::vector<T> result(text.size() / sizeof(T));
        if (!result.empty()) std::memcpy(result.data(), text.data(), result.size() * sizeof(T));
        return result;
    }

private:
    const char *parse();  // what is wrong, or null

    std::string bytes_;
    std::vector<Elf64_Shdr> sections_;
    std::vector<Elf64_Sym> symbols_;
    std::vector<std::string> names_;
};

Result<ElfObject> ElfObject::read(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return environment_error(path + ": cannot be read: " + std::strerror(errno));
    ElfObject object;
    object.bytes_.assign(std::istreambuf_iterator<char>(file), {});
    if (const char *problem = object.parse()) return bad_input(path + ": " + problem);
    return object;
}

// The hash of an object, which names its measurements, is defined for one format. Another format needs a reader of its
// own here before kernels in it can be recorded.
const char *not_supported(const Elf64_Ehdr &header) {
    if (header.e_ident[EI_CLASS] != ELFCLASS64) return "an ELF object of 32 bits; kiln reads those of 64 bits only";
    if (header.e_ident[EI_DATA] != ELFDATA2LSB) return "a big-endian ELF object; kiln reads little-endian ones only";
    return "an ELF file, but no relocatable object; name the .o that a compiler wrote";
}

const char *other_format(const std::string &bytes) {
    if (bytes.starts_with("!<arch>")) return "an archive of objects; name one of its objects";
    const bool is_mach = bytes.starts_with("\xcf\xfa\xed\xfe") || bytes.starts_with("\xce\xfa\xed\xfe");
    return is_mach ? "a Mach-O object; kiln reads ELF objects only" : "not an ELF object";
}

const char *ElfObject::parse() {
    constexpr const char *damaged = "a damaged ELF object: a part lies outside the file";
    Elf64_Ehdr header;
    if (bytes_.size() < sizeof header) return "not an ELF object: too short";
    std::memcpy(&header, bytes_.data(), sizeof header);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return other_format(bytes_);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_REL) {
        return not_supported(header);
    }
    const auto inside = [&](uint64_t offset, uint64_t size) {
        return offset <= bytes_.size() && size <= bytes_.size() - offset;
    };
    if (header.e_shentsize != sizeof(Elf64_Shdr)) return damaged;
    if (!inside(header.e_shoff, uint64_t(header.e_shnum) * sizeof(Elf64_Shdr))) return damaged;
    sections_.resize(header.e_shnum);
    if (header.e_shnum > 0) {
        std::memcpy(sections_.data(), bytes_.data() + header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr));
    }
    for (const Elf64_Shdr &s : sections_) {
        if (s.sh_type != SHT_NOBITS && !inside(s.sh_offset, s.sh_size)) return damaged;
    }
    for (const Elf64_Shdr &s : sections_) {
        if (s.sh_type == SHT_SYMTAB_SHNDX) return "an ELF object of more sections than are supported";
        if (s.sh_type != SHT_SYMTAB) continue;
        if (s.sh_link >= sections_.size()) return damaged;
        symbols_ = entries<Elf64_Sym>(s);
        const std::string_view texts = content(sections_[s.sh_link]);
        for (const Elf64_Sym &symbol : symbols_) {
            if (symbol.st_name >= texts.size()) return damaged;
            const std::string_view rest = texts.substr(symbol.st_name);
            names_.emplace_back(rest.substr(0, rest.find('\0')));
        }
    }
    return nullptr;
}

bool is_entry_point(std::string_view name) {
    for (const std::string_view stem : {compute_symbol, pack_symbol, prepare_symbol}) {
        if (name == stem || (name.starts_with(stem) && name.substr(stem.size()) == "_argv")) return true;
    }
    return false;
}

// Section header index -> position among the loaded sections.
using LoadedSections = std::map<size_t, uint64_t>;

// A place in a loaded section goes in by position, anything else (an undefined function, a constant) by name.
void add_target(const ElfObject &object, const LoadedSections &loaded, const Elf64_Sym &symbol, int64_t addend,
                ContentDigest *digest) {
    const auto section = loaded.find(symbol.st_shndx);
    if (section != loaded.end()) {
        digest->add_number(section->second);
        digest->add_number(symbol.st_value + uint64_t(addend));
    } else {
        digest->add_part(object.name(symbol));
        digest->add_number(uint64_t(addend));
    }
}

}  // namespace

Result<std::string> object_hash(const std::string &path) {
    auto read = ElfObject::read(path);
    if (!read) return read.error();
    const ElfObject &object = *read;
    ContentDigest digest;
    LoadedSections loaded;
    for (size_t i = 0; i < object.sections().size(); i++) {
        const Elf64_Shdr &s = object.sections()[i];
        if ((s.sh_flags & SHF_ALLOC) == 0) continue;
        loaded.emplace(i, loaded.size());
        digest.add_number(s.sh_type);
        digest.add_number(s.sh_flags & ~uint64_t(SHF_GROUP));
        digest.add_number(s.sh_addralign);
        digest.add_number(s.sh_size);
        digest.add_part(object.content(s));
    }
    for (const Elf64_Shdr &s : object.sections()) {
        if (s.sh_type == SHT_REL) return bad_input(path + ": relocations without addends are not supported");
        const auto target = loaded.find(s.sh_info);
        if (s.sh_type != SHT_RELA || target == loaded.end()) continue;
        digest.add_number(target->second);
        for (const Elf64_Rela &r : object.entries<Elf64_Rela>(s)) {
            const size_t symbol = ELF64_R_SYM(r.r_info);
            if (symbol >= object.symbols().size()) return bad_input(path + ": a damaged ELF object: unknown symbol");
            digest.add_number(r.r_offset);
            digest.add_number(ELF64_R_TYPE(r.r_info));
            add_target(object, loaded, object.symbols()[symbol], r.r_addend, &digest);
        }
    }
    std::map<std::string_view, const Elf64_Sym *> entry_points;
    for (const Elf64_Sym &symbol : object.symbols()) {
        if (is_entry_point(object.name(symbol))) entry_points[object.name(symbol)] = &symbol;
    }
    for (const auto &[name, symbol] : entry_points) {
        digest.add_part(name);
        add_target(object, loaded, *symbol, 0, &digest);
    }
    return digest.text();
}

namespace {

Result<std::vector<std::string>> global_symbols(const std::string &path, bool defined) {
    auto object = ElfObject::read(path);
    if (!object) return object.error();
    std::set<std::string> names;
    for (const Elf64_Sym &symbol : object->symbols()) {
        if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL || object->name(symbol).empty()) continue;
        if ((symbol.st_shndx != SHN_UNDEF) == defined) names.emplace(object->name(symbol));
    }
    return std::vector<std::string>(names.begin(), names.end());
}

}  // namespace

Result<std::vector<std::string>> defined_symbols(const std::string &path) { return global_symbols(path, true); }
Result<std::vector<std::string>> undefined_symbols(const std::string &path) { return global_symbols(path, false); }

namespace {

// Those of Zen 4 that LLVM uses by itself: SSE4A, and BF16, also with the width behind the name (vcvtneps2bf16x).
constexpr std::string_view beginnings[] = {"extrq",         "insertq",        "movntsd",  "movntss",
                                           "vcvtneps2bf16", "vcvtne2ps2bf16", "vdpbf16ps"};

// Of a line such as `  1f:\tvpaddd %zmm1,%zmm2,%zmm3`. Empty: the line is a heading.
std::string_view mnemonic_of(std::string_view line) {
    const size_t tab = line.find(":\t");
    if (tab == line.npos) return {};
    line.remove_prefix(tab + 2);
    return line.substr(0, line.find_first_of(" \t"));
}

bool is_foreign(std::string_view mnemonic) {
    return std::ranges::any_of(beginnings, [&](std::string_view name) { return mnemonic.starts_with(name); });
}

}  // namespace

bool needs_check_of_instructions(const Target &target) { return has_feature(target, "avx512_icelake"); }

std::optional<std::string> foreign_instruction(std::string_view disassembly) {
    while (!disassembly.empty()) {
        const size_t end = std::min(disassembly.find('\n'), disassembly.size());
        const std::string_view mnemonic = mnemonic_of(disassembly.substr(0, end));
        if (is_foreign(mnemonic)) return std::string(mnemonic);
        disassembly.remove_prefix(std::min(end + 1, disassembly.size()));
    }
    return std::nullopt;
}

}  // namespace kiln
