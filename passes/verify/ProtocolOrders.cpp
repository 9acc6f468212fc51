// One run that stands for all orders.
//
// Vector clocks (Mattern 1989) say for each event of the run which others are before it in every order. If each arrival belongs to its phase of necessity, each wait meets its parity in one phase only, and
// accesses of one slot are ordered, then every prefix of every order is a prefix of this run up to the order of independent events: no order can stop, or do anything else.
#include "passes/verify/ProtocolMachine.h"

#include <algorithm>

using namespace tegula::protocol;

namespace {

/// For each agent, and behind them for the landings of each slot: how many of its events are before.
using Clock = std::vector<uint32_t>;

void join(Clock &clock, const Clock &other) {
  std::transform(clock.begin(), clock.end(), other.begin(), clock.begin(), [](uint32_t x, uint32_t y) { return std::max(x, y); });
}

bool isBefore(const Clock &clock, const Clock &later) {
  return std::equal(clock.begin(), clock.end(), later.begin(), [](uint32_t x, uint32_t y) { return x <= y; });
}

/// The completed phases of one barrier: what was before each, and who waited for it.
class Phases {
public:
  explicit Phases(size_t width) : arrivals(width), width(width) {}

  /// An arrival in the phase that is open; it must not be possible in the one before.
  bool arrive(const Clock &clock) {
    join(arrivals, clock);
    return done.empty() || isBefore(done.back(), clock);
  }
  /// Those who waited for the phase before must have passed, or they could find the parity turned back.
  bool complete() {
    done.push_back(arrivals);
    arrivals.assign(width, 0);
    return isBefore(waitersFor(done.size() - 2), done.back());
  }
  /// A wait for phase `round`: not possible while the phase before it is open, where the parity is the same as after it.
  bool wait(int round, Clock &clock, int agent) {
    if (round > 0 && !isBefore(done[round - 1], clock))
      return false;
    if (round >= 0)
      join(clock, done[round]);
    waitersFor(round)[agent] = clock[agent];
    return true;
  }
  void joinPhase(int round, Clock &clock) const { join(clock, done[round]); }
  bool isKnown(int round, const Clock &clock) const { return round < 0 || isBefore(done[round], clock); }
  const Clock &last() const { return done.back(); }
  size_t count() const { return done.size(); }

private:
  /// The last waits for phase `round`, from -1, which is complete from the start.
  Clock &waitersFor(int round) {
    waiters.resize(std::max<size_t>(waiters.size(), round + 2), Clock(width));
    return waiters[round + 1];
  }

  Clock arrivals;
  std::vector<Clock> done, waiters;
  size_t width;
};

class OneRun {
public:
  OneRun(const System &system, Fault &fault)
      : system(system), fault(fault), machine(system), width(system.agents.size() + system.slots.size()), clocks(system.agents.size(), Clock(width)),
        fills(system.slots.size(), Clock(width)), reads(system.slots.size(), Clock(width)), full(system.slots.size(), Phases(width)),
        empty(system.slots.size(), Phases(width)), turns(system.barriers.size(), Phases(width)) {}

  bool run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t slot = 0; slot < system.slots.size(); ++slot)
        if (machine.isFilling(slot)) {
          moved = true;
          if (!land(slot))
            return false;
        }
      for (size_t agent = 0; agent < system.agents.size(); ++agent)
        while (machine.isEnabled(agent)) {
          moved = true;
          if (!step(agent))
            return false;
        }
    }
    if (auto wrong = machine.faultOfState())
      return refuse(wrong->text, stepOf(wrong->agent));
    return true;
  }

private:
  bool refuse(std::string why, Step at) {
    fault.text = std::move(why);
    fault.at = at;
    return false;
  }

  Step stepOf(int agent) { return {agent, agent < 0 ? 0 : machine.position(agent)}; }

  bool land(int slot) {
    fault.trace.push_back({-1, slot});
    machine.land(slot);
    return contribute(full[slot], fills[slot], machine.slot(slot).full) || unordered({-1, slot});
  }

  /// An arrival, and the end of the phase if the machine is past it.
  bool contribute(Phases &phases, const Clock &clock, size_t completed) {
    bool right = phases.arrive(clock);
    return (completed == phases.count() || phases.complete()) && right;
  }

  bool step(int agent) {
    const Event &event = machine.next(agent);
    Step made = stepOf(agent);
    fault.trace.push_back(made);
    if (auto wrong = machine.step(agent))
      return refuse(*wrong, made);
    ++clocks[agent][agent];
    return follow(agent, event) || unordered(made);
  }

  bool unordered(Step step) { return refuse("in some order another step may come before or after this one: " + describe(system, step), step); }

  /// The clocks after an event, and whether what it needs is before it in every order.
  bool follow(int agent, const Event &event) {
    Clock &clock = clocks[agent];
    int slot = event.object, round = event.round;
    switch (event.kind) {
    case EventKind::Acquire:
      return empty[slot].wait(round - 1, clock, agent);
    case EventKind::Wait:
      return full[slot].wait(round, clock, agent);
    case EventKind::Fill:
    case EventKind::Store: {
      fills[slot] = clock;
      fills[slot][system.agents.size() + slot] = round + 1;
      bool isFree = empty[slot].isKnown(round - 1, clock); // and so the fill before has landed, and been read
      return event.kind == EventKind::Fill ? isFree : full[slot].arrive(fills[slot]) && isFree;
    }
    case EventKind::Note: // by who commits next, which is what readers wait for
      return empty[slot].isKnown(round - 1, clock);
    case EventKind::Commit:
      return contribute(full[slot], clock, machine.slot(slot).full);
    case EventKind::Done:
      reads[slot][agent] = clock[agent];
      return true;
    case EventKind::Read:
    case EventKind::Touch:
      reads[slot][agent] = clock[agent];
      return full[slot].isKnown(round, clock);
    case EventKind::Release:
      return full[slot].isKnown(round, clock) && contribute(empty[slot], clock, machine.slot(slot).empty) &&
             (empty[slot].count() == size_t(round) || isBefore(reads[slot], empty[slot].last()));
    case EventKind::Meet:
      return contribute(turns[event.object], clock, machine.barrier(event.object).turn);
    case EventKind::Pass:
      turns[event.object].joinPhase(machine.turn(agent), clock);
      return true;
    }
    return false;
  }

  const System &system;
  Fault &fault;
  Machine machine;
  size_t width;
  std::vector<Clock> clocks, fills, reads; ///< an agent's; a slot's last fill; the last reads of a slot by each agent
  std::vector<Phases> full, empty, turns;
};

} // namespace

bool tegula::protocol::proveByOneRun(const System &system, Fault &fault) { return OneRun(system, fault).run(); }
