// A file descriptor with an owner.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <string>

namespace kiln {

class OpenFile {
public:
    OpenFile(const std::string &path, int flags) : number_(::open(path.c_str(), flags | O_CLOEXEC, 0600)) {}
    OpenFile(const OpenFile &) = delete;
    OpenFile &operator=(const OpenFile &) = delete;
    ~OpenFile() {
        if (number_ >= 0) ::close(number_);
    }
    bool is_open() const { return number_ >= 0; }
    int number() const { return number_; }

private:
    int number_;
};

}  // namespace kiln
