// The matching problem of one grid cell as a Gecode model, for docs/benchmarks.md.
//
// Built and run by scripts/bench_matching where Gecode is installed. All sizes in their steps (hidden,
// expert size and experts in 8, head size in 2), budgets divided by 8 to fit Gecode's 32-bit integers,
// the largest mismatch in millionths.
#include <chrono>
#include <cstdio>
#include <gecode/int.hh>
#include <gecode/minimodel.hh>
#include <gecode/search.hh>

using namespace Gecode;

namespace {

constexpr int top_k = 8, depth = 12, executed = 18, attended = 392;
constexpr double flops = 1328578560, params = 3872226560;
constexpr int kv_width = 256 * 12;  // kv heads x head size x slots

class Cell : public IntMinimizeSpace {
 public:
  Cell() {
    const IntVar K(*this, 1, 8), d(*this, 16, 64), H(*this, 1, 80), h(*this, 40, 320);
    const IntVar f(*this, 14, 216), E(*this, 1, 96), gqa(*this, 5, 15);
    rel(*this, H * d * 2 == h * 8);
    rel(*this, K * gqa == H);
    rel(*this, f * 160 >= h * 27);
    rel(*this, f * 40 <= h * 27);
    const IntVar width = expr(*this, K * d);  // half of kv heads x head size
    const IntVar hh = expr(*this, h * h), hf = expr(*this, h * f), hw = expr(*this, h * width);
    const IntVar hfE = expr(*this, hf * E), hE = expr(*this, h * E);
    // Per layer: 2 h^2 + 4 h width + 3 h f top_k + h E + 2 h T, all over 8.
    const IntVar work = expr(*this, hh * 16 + hw * 4 + hf * (24 * top_k) + hE * 8 + h * (2 * attended));
    const IntVar stored = expr(*this, (hh * 16 + hw * 4 + hE * 8 + h * 2) * depth + h + hfE * (192 * depth * 1));
    largest_ = IntVar(*this, 0, 20000);
    hold(work, flops / (6.0 * 8 * executed));
    hold(stored, params / 8);
    hold(expr(*this, width * (2 * executed)), kv_width);
    sizes_ = IntVarArray(*this, 6);
    const IntVar all[] = {K, d, H, h, f, E};
    for (int i = 0; i < 6; ++i) sizes_[i] = all[i];
    branch(*this, sizes_, INT_VAR_SIZE_MIN(), INT_VAL_MIN());
    branch(*this, largest_, INT_VAL_MIN());
  }
  Cell(Cell& other) : IntMinimizeSpace(other) {
    sizes_.update(*this, other.sizes_);
    largest_.update(*this, other.largest_);
  }
  Space* copy() override { return new Cell(*this); }
  IntVar cost() const override { return largest_; }
  void print() const {
    std::printf("kv_heads=%d head_size=%d heads=%d hidden=%d expert_size=%d experts=%d\n", sizes_[0].val(),
                2 * sizes_[1].val(), sizes_[2].val(), 8 * sizes_[3].val(), 8 * sizes_[4].val(),
                8 * sizes_[5].val());
  }

 private:
  /// |value - target| * 10^6 / target <= largest, in fixed point.
  void hold(const IntVar& value, double target) {
    const int t = static_cast<int>(target + 0.5), unit = static_cast<int>(target * 1e-6 * 4096 + 0.5);
    const int slack = static_cast<int>(target * 0.02);
    rel(*this, value >= t - slack);
    rel(*this, value <= t + slack);
    const IntVar off = expr(*this, abs(value - t));
    // off * 4096 <= largest * unit, both below 2^63 in Gecode's linear propagators.
    linear(*this, IntArgs({4096, -unit}), IntVarArgs() << off << largest_, IRT_LQ, 0);
  }

  IntVarArray sizes_;
  IntVar largest_;
};

}  // namespace

int main() {
  const auto start = std::chrono::steady_clock::now();
  const auto first = new Cell;
  BAB<Cell> search(first);
  delete first;
  Cell* best = nullptr;
  while (Cell* next = search.next()) {
    delete best;
    best = next;
  }
  const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("seconds=%.4f nodes=%lu\n", s, search.statistics().node);
  if (best == nullptr) return 1;
  best->print();
  delete best;
}
