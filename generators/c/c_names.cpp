#include "generators/c/c_names.h"

#include <cctype>
#include <string_view>

namespace kiln {
namespace {

constexpr std::string_view reserved[] = {
    "auto",   "break",  "case",   "char",     "const",    "continue", "default",  "do",    "double",   "else",
    "enum",   "extern", "float",  "for",      "goto",     "if",       "inline",   "int",   "long",     "register",
    "return", "short",  "signed", "sizeof",   "static",   "struct",   "switch",   "union", "unsigned", "void",
    "while",  "main",   "asm",    "restrict", "volatile", "typedef",  "workspace"};

// "output.s0.x.x_tile" -> "x_tile"; "sum$1.0" -> "sum".
std::string stem_of(const std::string &name) {
    std::string_view rest = name;
    std::string stem;
    while (stem.empty() && !rest.empty()) {
        const size_t dot = rest.rfind('.');
        std::string_view last = dot == rest.npos ? rest : rest.substr(dot + 1);
        rest = dot == rest.npos ? std::string_view() : rest.substr(0, dot);
        last = last.substr(0, last.find('$'));
        if (last.empty() || std::isdigit(static_cast<unsigned char>(last.front()))) continue;
        for (const char c : last) stem += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    }
    if (stem.empty() || stem.front() == '_') stem = "v" + stem;
    for (const std::string_view word : reserved) {
        if (stem == word) stem += "_";
    }
    return stem;
}

}  // namespace

std::string CNames::fresh(const std::string &stem) {
    std::string name = stem;
    for (int i = 2; !used_.insert(name).second; i++) name = stem + "_" + std::to_string(i);
    return name;
}

std::string CNames::of(const std::string &name) {
    const auto found = names_.find(name);
    return found == names_.end() ? bind(name) : found->second;
}

std::string CNames::bind(const std::string &name) { return names_[name] = fresh(stem_of(name)); }

void CNames::forget(const std::string &name) {
    const auto found = names_.find(name);
    if (found == names_.end()) return;
    used_.erase(found->second);
    names_.erase(found);
}

}  // namespace kiln
