// Result<T>: a value or an Error with a closed code and a message for a person.
//
// Functions that can fail for a reason outside the program (input, files, processes) return one; nothing throws
// across a folder. The message names what was wrong, where (file, entry, field) and the way out.
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace kiln {

enum class ErrorCode {
    usage,        // the caller asked for something that does not exist or makes no sense
    bad_input,    // a file, a field or a value is not valid
    unsupported,  // valid, but nothing here can compute it; the message is the reason
    environment,  // the machine failed us: no compiler, disk full, no permission
    interrupted,  // the user stopped the work
};

struct Error {
    ErrorCode code = ErrorCode::bad_input;
    std::string message;
};

inline Error usage_error(std::string message) { return {ErrorCode::usage, std::move(message)}; }
inline Error bad_input(std::string message) { return {ErrorCode::bad_input, std::move(message)}; }
inline Error unsupported(std::string message) { return {ErrorCode::unsupported, std::move(message)}; }
inline Error environment_error(std::string message) { return {ErrorCode::environment, std::move(message)}; }

template<typename T>
class [[nodiscard]] Result {
public:
    Result(T value) : state_(std::move(value)) {}
    Result(Error error) : state_(std::move(error)) {}

    bool ok() const { return std::holds_alternative<T>(state_); }
    explicit operator bool() const { return ok(); }

    T &value() {
        assert(ok());
        return *std::get_if<T>(&state_);
    }
    const T &value() const {
        assert(ok());
        return *std::get_if<T>(&state_);
    }
    T &operator*() { return value(); }
    const T &operator*() const { return value(); }
    T *operator->() { return &value(); }
    const T *operator->() const { return &value(); }

    const Error &error() const {
        assert(!ok());
        return *std::get_if<Error>(&state_);
    }

private:
    std::variant<T, Error> state_;
};

// Success without a value, or an Error.
class [[nodiscard]] Status {
public:
    Status() = default;
    Status(Error error) : error_(std::move(error)) {}

    bool ok() const { return !error_; }
    explicit operator bool() const { return ok(); }
    const Error &error() const {
        assert(!ok());
        return *error_;
    }

private:
    std::optional<Error> error_;
};

}  // namespace kiln
