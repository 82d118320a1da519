// A step as kernels: operations of every segment and visit, expanded into passes, with their times.
//
// A layer looped r times launches r times and reads its weights r times, unless everything between
// two visits fits in L2. Training runs each product again for the data gradient (m, k, n) and the
// weight gradient (n, k, m); backward visits may be fewer than forward ones.
//
// Held by tests/gpu/plan_test.cpp.
#include <fmt/core.h>

#include <algorithm>

#include "gpu/launches.h"
#include "gpu/totals.h"

namespace isoloop::gpu {

struct Planner::State {
  DeviceModel model;
  PlanOptions options;
};

namespace {

class Builder {
 public:
  /// With `times` no kernels are kept; the numbers are the same.
  enum class Keep { kernels, times };

  Builder(const DeviceModel& model, const arch::Architecture& architecture,
          const PlanOptions& options, Launches& launches, Keep keep)
      : model_(model),
        arch_(architecture),
        s_(shard(model.device, options, architecture.context)),
        launches_(launches),
        lean_(keep == Keep::times),
        sum_(options) {
    arch::validate(architecture);
    check_shards(architecture, s_);
    training_ = options.phase == Phase::training;
    if (lean_) return;
    plan_.device = model.device.id;
    plan_.arch = architecture.name;
    plan_.options = options;
  }

  Plan plan() {
    build();
    add_totals(plan_, s_, model_);
    add_notes(plan_, arch_, local_params(arch_, s_, layers_), s_, model_);
    return std::move(plan_);
  }

  StepTime time() {
    build();
    return sum_.total();
  }

 private:
  void build() {
    for (std::size_t i = 0; i < arch_.segments.size(); ++i)
      layers_.push_back(layer_ops(arch_, arch_.segments[i], s_, model_.family));
    for (std::size_t i = 0; i < arch_.segments.size(); ++i) segment(i);
    for (const Op& op : model_ops(arch_, s_)) {
      Scope scope;
      scope.forward = scope.backward = 1;
      expand(op, scope);
    }
    stage_link();
    if (training_) update();
  }

  /// How often an operation runs, and whose it is.
  struct Scope {
    std::optional<std::size_t> segment;
    Ratio forward = 1, backward = 1;  // launches
    bool cached = false;              // its weights are in L2
    SegmentTime* time = nullptr;
    double layers = 1;
  };

  // ---- Segments ----

  void segment(std::size_t index) {
    const arch::Segment& segment = arch_.segments[index];
    SegmentTime lean_time;
    SegmentTime& time = lean_ ? lean_time : plan_.segments.emplace_back();
    time.name = lean_ ? std::string() : segment.name;
    time.visits = segment.visits.forward;
    for (const Op& op : layers_[index]) time.weight_bytes += op.layers * weight_bytes(op);
    const bool looped = segment.visits.forward > Ratio(1);
    time.weights_stay_in_l2 = looped && !training_ && reuse_bytes(index) <= l2_bytes();
    const Ratio stage(Int(1), Int(s_.options.pp));
    for (const Op& op : layers_[index]) {
      Scope scope;
      scope.segment = index;
      scope.time = &time;
      scope.layers = static_cast<double>(segment.layers);
      const Ratio launches = Ratio(static_cast<std::int64_t>(op.layers)) * stage;
      scope.forward = launches * segment.visits.forward;
      scope.backward = launches * segment.visits.backward;
      if (!time.weights_stay_in_l2 || weight_bytes(op) == 0) {
        expand(op, scope);
        continue;
      }
      scope.forward = launches;
      expand(op, scope);
      scope.cached = true;
      scope.forward = launches * (segment.visits.forward - Ratio(1));
      expand(op, scope);
    }
    if (looped && !lean_) note_weights(segment, time);
  }

  double l2_bytes() const { return static_cast<double>(model_.device.l2_bytes); }

  /// Bytes that pass through L2 between two visits of the same layer: all weights and other
  /// traffic of what runs in between.
  double reuse_bytes(std::size_t index) {
    const arch::Segment& segment = arch_.segments[index];
    if (segment.order == arch::Order::layer && arch_.schedule.empty())
      return traffic(index) / static_cast<double>(segment.layers);
    double sum = 0;
    for (std::size_t i = 0; i < layers_.size(); ++i)
      if (i == index || (!arch_.schedule.empty() && arch_.segments[i].visits.forward > Ratio(1)))
        sum += traffic(i);
    return sum;
  }

  /// Device-memory bytes of one visit of a segment.
  double traffic(std::size_t index) {
    double sum = 0;
    for (const Op& op : layers_[index]) sum += op.layers * forward_launch(op, false).bytes;
    return sum;
  }

  void note_weights(const arch::Segment& segment, const SegmentTime& time) {
    const std::string size = byte_text(Ratio(static_cast<std::int64_t>(time.weight_bytes)));
    plan_.notes.push_back(
        time.weights_stay_in_l2
            ? fmt::format("{}: its {} of weights stay in L2 between visits", segment.name, size)
            : fmt::format("{}: its {} of weights are read from memory at every visit", segment.name,
                          size));
  }

  static double weight_bytes(const Op& op) {
    const bool product = op.kind == KernelKind::gemm || op.kind == KernelKind::grouped_gemm;
    if (!product || !op.weights) return 0;
    return static_cast<double>(op.gemm.n) * static_cast<double>(op.gemm.k) *
           static_cast<double>(op.gemm.groups) * bytes_per_element(op.gemm.precision);
  }

  // ---- Launches ----

  GemmProblem forward_problem(const Op& op, bool cached) const {
    GemmProblem p = op.gemm;
    p.weights_cached = cached;
    return p;
  }

  const Launch& forward_launch(const Op& op, bool cached) {
    switch (op.kind) {
      case KernelKind::attention:
        return launches_.attention(op.attention);
      case KernelKind::elementwise:
        return scratch_ = predict_elementwise(model_, op.forward_bytes);
      case KernelKind::link:
        return scratch_ = predict_link(model_, op.forward_bytes, s_.link_gbs, op.link_steps);
      default:
        return launches_.gemm(forward_problem(op, cached));
    }
  }

  // ---- Passes ----

  void expand(const Op& op, const Scope& scope) {
    add_forward(op, scope, Pass::forward, scope.forward);
    if (!training_) return;
    if (redone(op)) add_forward(op, scope, Pass::recompute, scope.backward);
    switch (op.kind) {
      case KernelKind::gemm:
      case KernelKind::grouped_gemm:
        add_gradients(op, scope);
        break;
      case KernelKind::attention: {
        AttentionProblem p = op.attention;
        p.backward = true;
        Kernel& k = add(op, scope, Pass::data_gradient, scope.backward);
        if (!lean_) k.macs = Ratio(2) * op.macs;  // the recomputed scores are no useful work
        finish(k, scope, launches_.attention(p));
        break;
      }
      default: {
        if (op.backward_bytes == 0) break;
        Kernel& k = add(op, scope, Pass::data_gradient, scope.backward);
        if (!lean_) k.macs = Ratio(2) * op.macs;
        finish(k, scope,
               op.kind == KernelKind::link
                   ? predict_link(model_, op.backward_bytes, s_.link_gbs, op.link_steps)
                   : predict_elementwise(model_, op.backward_bytes));
      }
    }
  }

  bool redone(const Op& op) const {
    switch (s_.options.recompute) {
      case Recompute::full:
        return op.kind != KernelKind::gemm || op.name != "head";
      case Recompute::elementwise:
        return op.recomputable;
      default:
        return false;
    }
  }

  Kernel& add(const Op& op, const Scope& scope, Pass pass, const Ratio& count) {
    Kernel& k = lean_ ? lean_kernel_ : plan_.kernels.emplace_back();
    k.kind = op.kind;
    k.count = count;
    if (lean_) return k;
    k.name = op.name;
    k.pass = pass;
    k.segment = scope.segment;
    if (op.gemm.n > 0) {
      k.m = op.gemm.m;
      k.n = op.gemm.n;
      k.k = op.gemm.k;
      k.groups = op.gemm.groups;
    } else if (op.kind == KernelKind::attention) {
      k.m = op.attention.queries;
      k.n = op.attention.keys;
      k.k = op.attention.head_size;
      k.groups = op.attention.sequences * op.attention.heads;
    }
    return k;
  }

  template <class Detail>
  void finish(Kernel& k, const Scope& scope, const Detail& launch) {
    if (lean_) return sum_.add(k.kind, k.per_step, k.count.to_double() * launch.time);
    k.detail = launch;
    if (scope.time == nullptr) return;
    Time& sum = k.pass == Pass::forward ? scope.time->forward_us : scope.time->backward_us;
    const arch::Segment& segment = arch_.segments[*scope.segment];
    const Ratio visits = k.pass == Pass::forward ? segment.visits.forward : segment.visits.backward;
    const double runs = scope.layers * visits.to_double() / static_cast<double>(s_.options.pp);
    sum += (1 / runs) * k.total_us();
  }

  void add_forward(const Op& op, const Scope& scope, Pass pass, const Ratio& count) {
    Kernel& k = add(op, scope, pass, count);
    describe(k, op);
    k.weights_from_l2 = scope.cached;
    switch (op.kind) {
      case KernelKind::gemm:
      case KernelKind::grouped_gemm:
        finish(k, scope, launches_.gemm(forward_problem(op, scope.cached)));
        break;
      case KernelKind::attention:
        finish(k, scope, launches_.attention(op.attention));
        break;
      default:
        finish(k, scope, forward_launch(op, false));
    }
  }

  /// Work and weights of one launch.
  void describe(Kernel& k, const Op& op) const {
    if (lean_) return;
    k.macs = op.macs;
    k.weight_bytes = weight_bytes(op);
  }

  void add_gradients(const Op& op, const Scope& scope) {
    GemmProblem data = op.gemm;
    std::swap(data.n, data.k);
    Kernel& d = add(op, scope, Pass::data_gradient, scope.backward);
    std::swap(d.n, d.k);
    describe(d, op);
    finish(d, scope, launches_.gemm(data));
    if (!op.weights) return;
    // m: output features, n: input features, k: rows. Gradients are accumulated in fp32.
    GemmProblem weight = op.gemm;
    weight.m = op.gemm.n;
    weight.n = op.gemm.k;
    weight.k = op.gemm.m;
    weight.rows_are_k = op.gemm.routing.has_value();
    weight.backend = GroupBackend::none;
    weight.output_bytes = 4;
    Kernel& w = add(op, scope, Pass::weight_gradient, scope.backward);
    w.m = weight.m;
    w.n = weight.n;
    w.k = weight.k;
    describe(w, op);
    finish(w, scope, launches_.gemm(weight));
  }

  // ---- Once per microbatch or step ----

  void stage_link() {
    if (s_.options.pp == 1) return;
    Op op;
    op.name = "pipeline send";
    op.kind = KernelKind::link;
    op.forward_bytes = op.backward_bytes =
        static_cast<double>(s_.local_tokens * arch_.hidden) * s_.activation_bytes;
    Scope scope;
    expand(op, scope);
  }

  void update() {
    const LocalParams params = local_params(arch_, s_, layers_);
    const double weight = bytes_per_element(s_.precision) < 2 ? 2 : s_.activation_bytes;
    const double replicas = static_cast<double>(s_.dp);
    // Gradient read; master copy and two moments read and written in fp32; weight written.
    per_step("optimizer", KernelKind::elementwise,
             predict_elementwise(model_, owned_params(params, s_) * (4 + 12 + 12 + weight)));
    const double sent =
        weight * 2 *
        (params.dense * (1 - 1 / replicas) + params.experts * (1 - 1 / expert_replicas(s_)));
    if (sent <= 0) return;
    per_step("gradient reduce-scatter, weight all-gather", KernelKind::link,
             predict_link(model_, sent, s_.link_gbs, 2 * (replicas - 1)));
  }

  void per_step(std::string_view name, KernelKind kind, const Launch& launch) {
    Op op;
    op.name = name;
    op.kind = kind;
    Kernel& k = add(op, Scope(), Pass::update, 1);
    k.per_step = true;
    finish(k, Scope(), launch);
    k.per_step = !lean_;
  }

  const DeviceModel& model_;
  const arch::Architecture& arch_;
  const Sharding s_;
  Launches& launches_;
  const bool lean_;
  bool training_ = false;
  Plan plan_;
  StepSum sum_;
  Kernel lean_kernel_;
  Launch scratch_;
  std::vector<std::vector<Op>> layers_;
};

}  // namespace

Planner::Planner(const Device& device, const PlanOptions& options) {
  check_options(device, options);
  state_ = std::make_unique<const State>(State{DeviceModel(device, efficiency()), options});
}
Planner::~Planner() = default;
Planner::Planner(Planner&&) noexcept = default;
Planner& Planner::operator=(Planner&&) noexcept = default;

Plan Planner::plan(const arch::Architecture& architecture) const {
  Launches launches(state_->model);
  return Builder(state_->model, architecture, state_->options, launches, Builder::Keep::kernels)
      .plan();
}

StepTimer::StepTimer(const Planner& planner)
    : planner_(&planner), launches_(std::make_unique<Launches>(planner.state_->model)) {}
StepTimer::~StepTimer() = default;
StepTimer::StepTimer(StepTimer&&) noexcept = default;

StepTime StepTimer::time(const arch::Architecture& architecture) {
  const Planner::State& state = *planner_->state_;
  return Builder(state.model, architecture, state.options, *launches_, Builder::Keep::times).time();
}

Plan plan(const arch::Architecture& architecture, const Device& device,
          const PlanOptions& options) {
  return Planner(device, options).plan(architecture);
}

}  // namespace isoloop::gpu
