#include "package/output/package_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace kiln {
namespace {

constexpr size_t longest = 64;

// Programs make identifiers of the name.
constexpr std::string_view keywords[] = {
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char16_t",
    "char32_t",
    "char8_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "typeof",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
    "linux",
    "unix",
};

// With DIR/include on the path, <NAME.h> would be the package's.
constexpr std::string_view headers[] = {
    "aio",      "alloca",   "ar",          "assert",    "byteswap", "complex",  "cpio",      "crypt",    "ctype",
    "dirent",   "dlfcn",    "elf",         "endian",    "err",      "errno",    "error",     "execinfo", "fcntl",
    "features", "fenv",     "float",       "fnmatch",   "ftw",      "getopt",   "glob",      "grp",      "iconv",
    "ifaddrs",  "inttypes", "iso646",      "langinfo",  "libgen",   "libintl",  "limits",    "link",     "locale",
    "malloc",   "math",     "memory",      "monetary",  "mqueue",   "ndbm",     "netdb",     "nl_types", "poll",
    "pthread",  "pty",      "pwd",         "regex",     "sched",    "search",   "semaphore", "setjmp",   "signal",
    "spawn",    "stdalign", "stdarg",      "stdatomic", "stdbit",   "stdbool",  "stdckdint", "stddef",   "stdint",
    "stdio",    "stdlib",   "stdnoreturn", "string",    "strings",  "stropts",  "syslog",    "tar",      "termios",
    "tgmath",   "threads",  "time",        "trace",     "uchar",    "ucontext", "ulimit",    "unistd",   "utime",
    "utmp",     "utmpx",    "values",      "wait",      "wchar",    "wctype",   "wordexp",
};

// With DIR/lib on the path, -lNAME would be the package's.
constexpr std::string_view libraries[] = {
    "anl",    "asan", "atomic", "c",    "c_nonshared", "crypt",     "dl",   "g",     "gcc",     "gcc_eh",
    "gcc_s",  "gomp", "itm",    "lsan", "m",           "mvec",      "nsl",  "nss",   "pthread", "quadmath",
    "resolv", "rt",   "ssp",    "stdc", "supc",        "thread_db", "tsan", "ubsan", "unwind",  "util",
};

// Files of these names cannot be made on some file systems; CMake has a module for osg.
constexpr std::string_view files[] = {
    "aux",  "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9", "con", "lpt1",
    "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9", "nul",  "osg",  "prn",
};

template<size_t N>
bool is_one_of(const std::string_view (&names)[N], std::string_view name) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// Who has the name already, or null.
const char *owner_of(std::string_view name) {
    if (name == "kiln") return "kiln.h, which declares kiln_package";
    if (is_one_of(keywords, name)) return "C or C++";
    if (is_one_of(headers, name)) return "a header of the system";
    if (is_one_of(libraries, name)) return "a library of the system";
    if (is_one_of(files, name)) return "file systems or CMake";
    return nullptr;
}

Error refused(const std::string &what) { return Error{ErrorCode::usage, what}; }

}  // namespace

Status check_package_name(const std::string &name) {
    if (name.size() > longest) {
        return refused(
            fmt::format("a name of {} characters cannot name a package; needs at most {}", name.size(), longest));
    }
    const bool valid = !name.empty() && !(name[0] >= '0' && name[0] <= '9') &&
                       name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
    if (!valid) {
        return refused(
            fmt::format("`{}` cannot name a package; needs lower-case letters, digits and underscores, such "
                        "as resnet50, because it names C functions",
                        name));
    }
    if (const char *owner = owner_of(name)) {
        return refused(fmt::format("`{}` cannot name a package: it belongs to {}; choose another, such as {}_kernels",
                                   name, owner, name));
    }
    return {};
}

}  // namespace kiln
