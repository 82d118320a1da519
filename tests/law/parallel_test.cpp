// Every index once, on any number of threads; exceptions and progress.
//
// Source: the contract of law/parallel.h. Holds it.
#include "law/parallel.h"

#include "law/support.h"

namespace isoloop::law {

using detail::parallel_for;
using test::error_of;

TEST_CASE("every piece of work is done once") {
  for (const int threads : {1, 2, 7, 50}) {
    std::vector<int> done(23, 0);
    parallel_for(done.size(), threads, {}, [&] { return [&](std::size_t i) { ++done[i]; }; });
    CHECK(done == std::vector<int>(23, 1));
  }
  parallel_for(0, 4, {}, [] { return [](std::size_t) { FAIL("no work"); }; });
}

TEST_CASE("of several errors the first index wins, and all work is done") {
  for (const int threads : {1, 4}) {
    std::vector<int> done(20, 0);
    const Error error = error_of([&] {
      parallel_for(done.size(), threads, {}, [&] {
        return [&](std::size_t i) {
          ++done[i];
          if (i % 7 == 3) throw input_error("at " + std::to_string(i));
        };
      });
    });
    CHECK(error.message == "at 3");
    CHECK(done == std::vector<int>(20, 1));
  }
}

TEST_CASE("progress comes on the calling thread and ends at the total") {
  const auto caller = std::this_thread::get_id();
  std::size_t last = 0;
  bool elsewhere = false;
  const Progress progress = [&](std::size_t done, std::size_t total) {
    elsewhere = elsewhere || std::this_thread::get_id() != caller;
    CHECK(total == 40);
    last = done;
  };
  parallel_for(40, 3, progress, [] { return [](std::size_t) {}; });
  CHECK(!elsewhere);
  CHECK(last == 40);
}

}  // namespace isoloop::law
