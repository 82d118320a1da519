// Independent pieces of work on several threads, with results that do not depend on how many.
//
// Held by tests/law/parallel_test.cpp.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "isoloop/law.h"

namespace isoloop::law::detail {

/// Calls make_worker() once in every thread and the worker it returns with each of 0 .. count-1,
/// in any order. Work must depend on its index alone and write to its own place. `progress` is
/// called on the calling thread only. Of several exceptions that of the least index is thrown.
template <class MakeWorker>
void parallel_for(std::size_t count, int threads, const Progress& progress,
                  const MakeWorker& make_worker) {
  std::atomic<std::size_t> next{0}, done{0};
  std::mutex mutex;
  std::exception_ptr first;
  std::size_t first_index = count;
  const auto run = [&](const Progress& report) {
    auto worker = make_worker();
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        worker(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (i < first_index) {
          first_index = i;
          first = std::current_exception();
        }
      }
      ++done;
      if (report) report(done, count);
    }
  };
  {
    std::vector<std::jthread> helpers;
    const std::size_t wanted = std::min(count, static_cast<std::size_t>(std::max(threads, 1)));
    for (std::size_t i = 1; i < wanted; ++i) helpers.emplace_back([&] { run({}); });
    run(progress);
  }
  if (first) std::rethrow_exception(first);
  if (progress) progress(count, count);
}

}  // namespace isoloop::law::detail
