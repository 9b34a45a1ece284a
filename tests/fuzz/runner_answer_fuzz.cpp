// What a measuring process may print, whose kernel may write anywhere, and what it may be told: lines of any bytes.
#include "tests/fuzz/fuzz_input.h"
#include "tuner/protocol/runner_protocol.h"

using namespace kiln;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const std::string text = FuzzInput(data, size).rest();
    const RunnerAnswer answer = parse_runner_answer(text);
    const RunnerAnswer again = parse_runner_answer(end_line(answer) + "\n");
    KILN_FUZZ_EXPECT(again.status == answer.status || !answer.status);
    if (const Result<RunnerJob> job = parse_runner_job(text)) {
        const Result<RunnerJob> job_again = parse_runner_job(to_json(*job));
        KILN_FUZZ_EXPECT(job_again && *job_again == *job);
    }
    return 0;
}
