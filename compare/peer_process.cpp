#include "compare/peer_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>

#include "compare/peer_answers.h"
#include "tuner/process/child_process.h"
#include "tuner/process/interrupt.h"
#include "tuner/process/started_child.h"
#include "workload/lists/field_values.h"

namespace kiln {

namespace {

int64_t now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

// All fields of a `workloads/1` entry.
Json entry(const Workload &w) {
    Json fields = {{"op", op_name(w)}};
    for (const WorkloadField &field : workload_fields()) {
        if (field.is_used_by(w.op)) fields[std::string(field.name)] = field_value(field, w);
    }
    return fields;
}

// The end of the child's stderr, which is a file so that nobody has to read it while the child works.
std::string last_line(int file) {
    struct stat status = {};
    if (fstat(file, &status) != 0 || status.st_size == 0) {
        return "";
    }
    std::string text(size_t(std::min<off_t>(status.st_size, 2000)), '\0');
    const ssize_t n = pread(file, text.data(), text.size(), status.st_size - off_t(text.size()));
    text.resize(size_t(std::max<ssize_t>(n, 0)));
    text.erase(text.find_last_not_of('\n') + 1);
    return text.substr(text.find_last_of('\n') + 1);
}

}  // namespace

struct PeerProcess::State {
    PeerProgram program;
    std::string version;
    Descriptor socket, error_output;
    std::optional<StartedChild> child;
    std::string received;

    Error error(const std::string &what) {
        const std::string said = last_line(error_output.get());
        child.reset();
        return environment_error(
            fmt::format("peer {}: {}{}{}", program.name, what, said.empty() ? "" : "; it said: ", said));
    }

    Error ended() {
        ChildResult result;
        siginfo_t info = {};
        // The child has closed its stdout, so its end is known already or comes at once.
        pollfd handle = {child->handle(), POLLIN, 0};
        poll(&handle, 1, 1000);
        if (waitid(P_PIDFD, id_t(child->handle()), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) {
            return error("closed its stdout in the middle");
        }
        result.end = info.si_code == CLD_EXITED ? ChildResult::End::exited : ChildResult::End::signalled;
        result.code = info.si_status;
        return error(fmt::format("ended with {}", describe(result)));
    }

    // One line, without its end.
    Result<std::string> read_line(int64_t limit_ns) {
        constexpr size_t longest = 16 << 20;
        const int64_t deadline_ns = now_ns() + limit_ns;
        std::array<char, 65536> chunk;
        for (;;) {
            if (const size_t end = received.find('\n'); end != std::string::npos) {
                const std::string line = received.substr(0, end);
                received.erase(0, end + 1);
                return line;
            }
            if (received.size() > longest) {
                return error("answers without end");
            }
            const int64_t left_ns = std::max<int64_t>(0, deadline_ns - now_ns());
            const timespec timeout = {left_ns / 1'000'000'000, left_ns % 1'000'000'000};
            std::array<pollfd, 2> polled = {{{socket.get(), POLLIN, 0}, {interrupt_descriptor(), POLLIN, 0}}};
            const int ready = ppoll(polled.data(), polled.size(), &timeout, nullptr);
            if (interrupted()) {
                child.reset();
                return Error{ErrorCode::interrupted, "interrupted"};
            }
            if (ready == 0) {
                return error(fmt::format("no answer within {:.0f} s", double(limit_ns) * 1e-9));
            }
            const ssize_t n = recv(socket.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
            if (n > 0) {
                received.append(chunk.data(), size_t(n));
            } else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
                return ended();
            }
        }
    }

    Result<PeerLayer> prepare(const Json &request) {
        const auto answer = ask(request);
        if (!answer) return answer.error();
        auto layer = parse_peer_layer(*answer);
        return layer ? layer : error(layer.error().message);
    }

    // The line that answers it.
    Result<std::string> ask(const Json &request) {
        if (!child) {
            return environment_error(fmt::format("peer {}: is gone", program.name));
        }
        const std::string line = request.dump() + "\n";
        // No request fills a socket's buffer, so less than all of it means that nobody reads.
        const ssize_t sent = send(socket.get(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent != ssize_t(line.size())) {
            return ended();
        }
        return read_line(program.answer_limit_ns);
    }
};

Result<PeerProcess> PeerProcess::start(const PeerProgram &program) {
    auto state = std::make_unique<State>();
    state->program = program;
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return environment_error(fmt::format("cannot make a socket pair: {}", strerror(errno)));
    }
    state->socket = above_stdio(Descriptor(ends[0]));
    Descriptor theirs = above_stdio(Descriptor(ends[1]));
    state->error_output = above_stdio(Descriptor(memfd_create("kiln-stderr", MFD_CLOEXEC)));
    if (!state->error_output.valid()) {
        return environment_error(fmt::format("cannot make a memory file: {}", strerror(errno)));
    }
    auto child = start_child({.arguments = program.arguments,
                              .input = theirs.get(),
                              .output = theirs.get(),
                              .error_output = state->error_output.get(),
                              .cpu = program.cpu});
    if (!child) {
        return child.error();
    }
    state->child.emplace(std::move(*child));
    theirs.reset();
    const auto greeting = state->read_line(program.start_limit_ns);
    if (!greeting) {
        return greeting.error();
    }
    auto version = parse_peer_greeting(*greeting, program.name);
    if (!version) {
        return state->error(version.error().message);
    }
    state->version = std::move(*version);
    return PeerProcess(std::move(state));
}

Result<PeerLayer> PeerProcess::prepare(const Workload &workload, int threads) {
    return state_->prepare({{"do", "prepare"}, {"threads", threads}, {"workload", entry(workload)}});
}

Result<PeerLayer> PeerProcess::prepare(const PeerNetwork &network, int threads) {
    const auto files = [](const std::vector<PeerNetwork::Tensor> &tensors) {
        Json list = Json::array();
        for (const PeerNetwork::Tensor &tensor : tensors)
            list.push_back({{"name", tensor.name}, {"file", tensor.file}});
        return list;
    };
    return state_->prepare({{"do", "prepare_network"},
                            {"threads", threads},
                            {"model", network.model},
                            {"inputs", files(network.inputs)},
                            {"outputs", files(network.outputs)}});
}

Result<PeerRound> PeerProcess::round(int64_t budget_ns) {
    const auto answer = state_->ask({{"do", "round"}, {"budget_ns", budget_ns}});
    if (!answer) {
        return answer.error();
    }
    auto samples = parse_peer_round(*answer);
    if (!samples) {
        return state_->error(samples.error().message);
    }
    return samples;
}

Result<PeerProfile> PeerProcess::profile() {
    const auto answer = state_->ask({{"do", "profile"}});
    if (!answer) {
        return answer.error();
    }
    auto profile = parse_peer_profile(*answer);
    if (!profile) {
        return state_->error(profile.error().message);
    }
    return profile;
}

const std::string &PeerProcess::name() const { return state_->program.name; }
const std::string &PeerProcess::version() const { return state_->version; }

PeerProcess::PeerProcess(std::unique_ptr<State> state) : state_(std::move(state)) {}
PeerProcess::PeerProcess(PeerProcess &&) noexcept = default;
PeerProcess &PeerProcess::operator=(PeerProcess &&) noexcept = default;
PeerProcess::~PeerProcess() = default;

PeerSource source_of(const PeerProgram &program) {
    return {program.name, [program]() -> Result<std::unique_ptr<Peer>> {
                Result<PeerProcess> process = PeerProcess::start(program);
                if (!process) return process.error();
                return std::unique_ptr<Peer>(std::make_unique<PeerProcess>(std::move(*process)));
            }};
}

}  // namespace kiln
