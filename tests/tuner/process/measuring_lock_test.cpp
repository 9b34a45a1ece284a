#include "tuner/process/measuring_lock.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include "tuner/process/temporary_folder.h"

namespace kiln {
namespace {

TEST(MeasuringLock, OneHolderAtATime) {
    const TemporaryFolder folder = std::move(TemporaryFolder::create().value());
    const std::string path = folder.path() + "/lock";
    std::atomic<int> holders = 0, most = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++) {
        threads.emplace_back([&] {
            for (int i = 0; i < 20; i++) {
                const auto lock = MeasuringLock::acquire(path, {});
                ASSERT_TRUE(lock.ok());
                most = std::max(most.load(), ++holders);
                std::this_thread::yield();
                holders--;
            }
        });
    }
    for (std::thread &thread : threads) thread.join();
    EXPECT_EQ(most, 1);
}

TEST(MeasuringLock, TellsWhoHasToWaitForLong) {
    const TemporaryFolder folder = std::move(TemporaryFolder::create().value());
    const std::string path = folder.path() + "/lock";
    int told = 0;
    std::optional<MeasuringLock> first = std::move(*MeasuringLock::acquire(path, [&] { told++; }));
    EXPECT_EQ(told, 0);
    std::atomic<bool> is_told = false;
    std::thread second([&] { EXPECT_TRUE(MeasuringLock::acquire(path, [&] { is_told = true; }).ok()); });
    while (!is_told) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    first.reset();
    second.join();
}

TEST(MeasuringLock, OthersMayUseTheFile) {
    const TemporaryFolder folder = std::move(TemporaryFolder::create().value());
    const std::string path = folder.path() + "/lock";
    const mode_t mask = umask(0077);
    { ASSERT_TRUE(MeasuringLock::acquire(path, {}).ok()); }
    umask(mask);
    struct stat status {};
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0444, 0444u);
}

TEST(MeasuringLock, WithoutAPlaceForItSaysSo) {
    const auto lock = MeasuringLock::acquire("/nonexistent/folder/lock", {});
    ASSERT_FALSE(lock.ok());
    EXPECT_EQ(lock.error().code, ErrorCode::environment);
    EXPECT_NE(lock.error().message.find("/nonexistent/folder/lock: cannot be opened"), std::string::npos);
}

}  // namespace
}  // namespace kiln
