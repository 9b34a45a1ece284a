// Leases tell the processes that share a database on one machine who works on what right now. So none of them does what
// another one is doing already.
//
// A lease is one byte of the file `DATABASE-leases`, locked for this process's open file description (fcntl(2),
// F_OFD_SETLK); which byte follows from what is leased, and the file itself stays empty. The kernel drops the lock with
// its owner at once, whatever the owner died of. So nothing has to expire or be reclaimed, and there is no clock and no
// process number, which could be another process's after a reboot or in a container. A process that hangs keeps its
// lease. Others wait for it for a limited time.
//
// Leases save work and carry no truth: where one fails, a candidate is tried twice, and the database keeps both trials.
// Two things whose hashes are equal share a byte; then one of them waits until the other is done.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tuner/process/descriptor.h"
#include "workload/result.h"

namespace kiln {

// A locked byte; released with this object or the process.
class Lease {
public:
    Lease(std::shared_ptr<const Descriptor> file, off_t byte) : file_(std::move(file)), byte_(byte) {}
    Lease(Lease &&) noexcept = default;
    Lease &operator=(Lease &&other) noexcept {
        std::swap(file_, other.file_);
        std::swap(byte_, other.byte_);
        return *this;
    }
    ~Lease();

private:
    std::shared_ptr<const Descriptor> file_;  // empty: moved from
    off_t byte_;
};

class Leases {
public:
    // Beside the database, under its real name, so that processes that reach it through different links meet. Errors
    // (environment): the file cannot be made, or its file system has no such locks.
    static Result<Leases> open(const std::string &database);

    Leases() = default;  // shared with nobody: everything is there to be taken

    // Nothing: another process holds it. Within one process a thing must not be taken twice.
    std::optional<Lease> try_take(std::string_view group, std::string_view item) const;

    // How many items of a group other processes hold.
    int held_by_others(std::string_view group) const;

    // The one process that may choose next within a group; meant for milliseconds. Nothing when `patience` ran out:
    // whoever has it hangs, and choosing without it is better than hanging, too.
    std::optional<Lease> turn(std::string_view group,
                              std::chrono::milliseconds patience = std::chrono::seconds(10)) const;

    // Until another process may have got on; for those who have nothing else to do.
    void wait() const;

private:
    explicit Leases(Descriptor file) : file_(std::make_shared<const Descriptor>(std::move(file))) {}

    std::optional<Lease> try_lock(off_t byte) const;
    std::shared_ptr<const Descriptor> file_;  // empty: shared with nobody
};

}  // namespace kiln
