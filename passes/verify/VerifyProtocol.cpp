// tegula-verify-protocol: no order of a kernel's roles goes wrong.
//
// In: warp.kernel. Out: the same, or an error with the shortest run that goes wrong. The one idea: over given sizes a role is a straight list of events, so sizes are counted through outside, and orders inside.
#include "passes/Passes.h"
#include "passes/verify/RoleRun.h"

#include "llvm/ADT/StringSet.h"
#include <tuple>
#include <vector>

namespace tegula {
#define GEN_PASS_DEF_VERIFYPROTOCOLPASS
#include "passes/Passes.h.inc"
} // namespace tegula

using namespace mlir;
using namespace tegula;

namespace {

/// What the roles do under some choices, and what was chosen.
struct Case {
  protocol::System system;
  std::string choices;
  size_t size = 0, number = 0; ///< events; cases before it
};

struct VerifyProtocolPass : tegula::impl::VerifyProtocolPassBase<VerifyProtocolPass> {
  using VerifyProtocolPassBase::VerifyProtocolPassBase;

  void runOnOperation() override {
    ProtocolSlice slice(getOperation());
    if (slice.getEvents().empty()) {
      if (report)
        emitRemark(getOperation().getLoc(), "the kernel has no rings and no named barriers: there is no protocol to check");
      return;
    }
    if (failed(slice.verifyThreads()))
      return signalPassFailure();
    RoleRun roles(slice);
    std::vector<Case> all;
    RoleRun::Outcome outcome = collect(roles, all);
    if (outcome == RoleRun::Outcome::Refused)
      signalPassFailure();
    if (outcome != RoleRun::Outcome::Done)
      return;
    for (const Case &one : all) {
      protocol::Result result = protocol::check(one.system);
      ++cases;
      states += result.states;
      if (result.verdict == protocol::Verdict::Safe)
        continue;
      refuse(slice, one, result);
      return signalPassFailure();
    }
    if (report && !all.empty())
      emitRemark(getOperation().getLoc(), "the protocol holds in every order: ") << all.size() << " cases of " << all.back().system.agents.size() << " agents, the longest of " << all.back().size << " events";
    for (Operation *op : roles.unreached())
      op->emitWarning("the protocol is not checked here: no size that was tried comes to this op");
  }

private:
  static constexpr int mostRuns = 4000;

  /// All different cases, the short ones first.
  RoleRun::Outcome collect(RoleRun &roles, std::vector<Case> &all) {
    Choices choices;
    llvm::StringSet<> seen;
    int runs = 0;
    do {
      if (++runs > mostRuns) {
        getOperation().emitWarning("the protocol is not checked for all sizes: there are more than ") << mostRuns << " combinations";
        break;
      }
      protocol::System system;
      RoleRun::Outcome outcome = roles.run(choices, system);
      if (outcome == RoleRun::Outcome::TooLong)
        continue;
      if (outcome != RoleRun::Outcome::Done)
        return outcome;
      size_t size = 0;
      for (const protocol::Agent &agent : system.agents)
        size += agent.events.size();
      if (seen.insert(fingerprint(system)).second)
        all.push_back({std::move(system), choices.describe(), size, all.size()});
    } while (choices.next());
    llvm::sort(all, [](const Case &x, const Case &y) { return std::tie(x.size, x.number) < std::tie(y.size, y.number); });
    return RoleRun::Outcome::Done;
  }

  static std::string fingerprint(const protocol::System &system) {
    std::string text;
    for (const protocol::Agent &agent : system.agents) {
      for (const protocol::Event &event : agent.events)
        for (int part : {int(event.kind), event.object, event.round, event.threads, event.site})
          text += static_cast<char>(part), text += static_cast<char>(part >> 8);
      text += agent.name;
    }
    return text;
  }

  void refuse(const ProtocolSlice &slice, const Case &one, const protocol::Result &result) {
    auto opOf = [&](protocol::Step step) -> Operation * {
      return step.agent < 0 ? getOperation() : slice.getEvents()[one.system.agents[step.agent].events[step.event].site];
    };
    Operation *at = opOf(result.fault.at);
    bool decided = result.verdict == protocol::Verdict::Faulty;
    InFlightDiagnostic error = emitError(at->getLoc(), decided ? "" : "the protocol could not be decided: ") << result.fault.text;
    if (!one.choices.empty())
      error << ", with " << one.choices;
    for (auto [number, step] : llvm::enumerate(result.fault.trace)) {
      if (step.agent >= 0)
        at = opOf(step); // a landing stands where the event before it does
      error.attachNote(at->getLoc()) << number + 1 << ". " << protocol::describe(one.system, step);
    }
  }
};

} // namespace
