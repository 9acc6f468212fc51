// One state of a system of agents, slots and barriers, and its steps.
#pragma once

#include "passes/verify/Protocol.h"

#include <optional>
#include <string>
#include <vector>

namespace tegula::protocol {

struct SlotState {
  uint16_t full = 0, empty = 0; ///< the phase that each barrier is in: as many are complete
  uint16_t released = 0;        ///< agents that have arrived on the empty barrier in its phase, a bit each
  bool committed = false;       ///< the full barrier's arrival in its phase
  bool filling = false, landed = false;
};

struct BarrierState {
  uint16_t turn = 0, threads = 0, came = 0; ///< turns completed; threads that complete this one; agents that came, a bit each
};

/// What is wrong with a state: with the next event of an agent, or (-1) with none.
struct StateFault {
  std::string text;
  int agent = -1;
};

class Machine {
public:
  explicit Machine(const System &system);

  /// Whether the agent has an event left that need not wait.
  bool isEnabled(int agent) const;
  bool isEnded(int agent) const { return at[agent] == system->agents[agent].events.size(); }
  const Event &next(int agent) const { return system->agents[agent].events[at[agent]]; }
  int position(int agent) const { return at[agent]; }
  /// The turn of a named barrier to which the agent came last.
  int turn(int agent) const { return turnOf[agent]; }
  bool isFilling(int slot) const { return slots[slot].filling; }

  /// Makes the agent's next event; gives what is wrong with it here.
  std::optional<std::string> step(int agent);
  void land(int slot);

  /// What is wrong with this state though every step to it was right: agents that may come to one barrier at once, nobody who can go on, things left over at the end.
  std::optional<StateFault> faultOfState() const;

  const SlotState &slot(int number) const { return slots[number]; }
  const BarrierState &barrier(int number) const { return barriers[number]; }
  /// All of the state in a few bytes.
  std::string key() const;

private:
  std::optional<std::string> fill(int agent, const Event &event);
  std::optional<std::string> note(int agent, const Event &event) const;
  std::optional<std::string> commit(int agent, const Event &event);
  std::optional<std::string> read(int agent, const Event &event) const;
  std::optional<std::string> release(int agent, const Event &event);
  std::optional<std::string> meet(int agent, const Event &event);
  std::optional<StateFault> tooManyAtOnce() const;
  StateFault stuck() const;
  std::optional<StateFault> leftOver() const;
  void completeFull(SlotState &slot);

  std::string name(int agent) const { return "`" + system->agents[agent].name + "`"; }
  std::string names(uint16_t agents) const;
  std::string slotName(int slot) const { return system->slots[slot].name; }
  uint8_t &reads(int slot, int agent) { return readCounts[slot * at.size() + agent]; }
  uint8_t reads(int slot, int agent) const { return readCounts[slot * at.size() + agent]; }

  const System *system;
  std::vector<uint16_t> at, turnOf; ///< an agent each: its next event; the turn of the barrier to which it came last
  std::vector<SlotState> slots;
  std::vector<BarrierState> barriers;
  std::vector<uint8_t> readCounts;
};

} // namespace tegula::protocol
