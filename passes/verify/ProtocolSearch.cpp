// All reachable states, breadth first.
#include "passes/verify/ProtocolMachine.h"

#include <deque>
#include <optional>
#include <string>
#include <unordered_set>

using namespace tegula::protocol;

namespace {

class Search {
public:
  Search(const System &system, size_t maxStates) : system(system), maxStates(maxStates) {}

  Result run() {
    visit(Machine(system), -1, {});
    for (; result.verdict == Verdict::Safe && !frontier.empty(); frontier.pop_front()) {
      auto [machine, number] = frontier.front();
      for (int agent = 0; agent < int(system.agents.size()); ++agent)
        if (machine.isEnabled(agent))
          follow(machine, number, {agent, machine.position(agent)});
      for (int slot = 0; slot < int(system.slots.size()); ++slot)
        if (machine.isFilling(slot))
          follow(machine, number, {-1, slot});
      if (seen.size() > maxStates && result.verdict == Verdict::Safe)
        result.verdict = Verdict::Undecided;
    }
    result.states = seen.size();
    return result;
  }

private:
  void follow(Machine machine, int from, Step step) {
    if (result.verdict != Verdict::Safe)
      return;
    std::optional<std::string> wrong;
    if (step.agent < 0)
      machine.land(step.event);
    else
      wrong = machine.step(step.agent);
    if (wrong)
      return found(*wrong, step, from, step);
    visit(std::move(machine), from, step);
  }

  void visit(Machine machine, int from, Step step) {
    if (!seen.insert(machine.key()).second)
      return;
    if (auto wrong = machine.faultOfState())
      return found(wrong->text, {wrong->agent, wrong->agent < 0 ? 0 : machine.position(wrong->agent)}, from, step);
    frontier.emplace_back(std::move(machine), int(reached.size()));
    reached.push_back({from, step});
  }

  void found(std::string text, Step at, int from, Step last) {
    result.verdict = Verdict::Faulty;
    result.fault = {std::move(text), at, {}};
    if (from < 0)
      return;
    std::vector<Step> &trace = result.fault.trace;
    trace.push_back(last);
    for (; reached[from].from >= 0; from = reached[from].from)
      trace.push_back(reached[from].step);
    trace = std::vector<Step>(trace.rbegin(), trace.rend());
  }

  struct Reached {
    int from; ///< the state before, or -1
    Step step;
  };

  const System &system;
  size_t maxStates;
  Result result;
  std::deque<std::pair<Machine, int>> frontier;
  std::vector<Reached> reached;
  std::unordered_set<std::string> seen;
};

} // namespace

Result tegula::protocol::search(const System &system, size_t maxStates) { return Search(system, maxStates).run(); }

Result tegula::protocol::check(const System &system, size_t maxStates) {
  Fault unproved;
  if (proveByOneRun(system, unproved))
    return {};
  Result result = search(system, maxStates);
  if (result.verdict == Verdict::Undecided)
    result.fault = std::move(unproved);
  return result;
}
