// The texts of a package's files as they lie in package/templates/, compiled in by CMake, and how their places are
// filled.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace kiln {

extern const char *const header_template;                    // package.h.in
extern const char *const cmake_config_template;              // config.cmake.in
extern const char *const cmake_version_template;             // config-version.cmake.in
extern const char *const pkg_config_template;                // package.pc.in
extern const char *const readme_template;                    // README.md.in
extern const char *const fallback_template;                  // fallback.md.in
extern const char *const no_fallback_template;               // no_fallback.md.in
extern const char *const network_template;                   // network.cpp.in
extern const char *const network_header_template;            // network.h.in
extern const char *const network_readme_template;            // network.md.in
extern const char *const preparation_readme_template;        // preparation.md.in
extern const char *const soft_core_cmake_template;           // soft_core.cmake.in
extern const char *const soft_core_header_template;          // soft_core.h.in
extern const char *const soft_core_makefile_template;        // soft_core.mk.in
extern const char *const soft_core_network_header_template;  // soft_core_network.h.in
extern const char *const soft_core_network_readme_template;  // soft_core_network.md.in
extern const char *const soft_core_readme_template;          // soft_core.md.in
extern const char *const table_template;                     // table.cpp.in

// The text with each @NAME@ replaced by its value; a value's own @ stay as they are. Precondition: every place of the
// text has a value.
std::string filled(std::string_view text, std::initializer_list<std::pair<std::string_view, std::string>> values);

// A name as macros have it.
std::string upper(std::string name);

}  // namespace kiln
