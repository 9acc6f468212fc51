// The synchronisation of a kernel as events of agents on slots and barriers, and the question whether any order of them goes wrong.
//
// Independent of the compiler's IR: a program here is a straight list of events for each agent, as a run over certain sizes makes them. Arrivals, phases and parities are those of mbarriers
// (PTX ISA, 9.7.13.15): a phase completes with its last arrival and its last byte, and a wait sees only the parity of the phases that have completed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tegula::protocol {

enum class EventKind : uint8_t {
  Acquire, ///< waits until fill `round - 1` of the slot has been released by all its readers
  Fill,    ///< starts an asynchronous fill of the slot, which lands at any time after
  Store,   ///< fills the slot at once
  Note,    ///< writes beside the slot, at once
  Commit,  ///< arrives on the slot's full barrier
  Wait,    ///< waits until fill `round` of the slot has landed and was committed
  Read,    ///< an asynchronous reader of the slot starts
  Done,    ///< that reader has ended
  Touch,   ///< reads the slot at once
  Release, ///< arrives on the slot's empty barrier
  Meet,    ///< comes to a named barrier that `threads` threads complete
  Pass,    ///< waits until the turn of the barrier to which this agent came last is complete
};

struct Event {
  EventKind kind;
  int object;        ///< a slot, or for Meet and Pass a barrier
  int round = 0;     ///< which fill of the slot, from 0
  int threads = 0;   ///< Meet: how many threads complete the barrier
  int site = 0;      ///< the caller's own number for where the event stands
  int tile = -1, block = -1; ///< where in the loops of the kernel; -1: outside
};

/// A warpgroup, or the one thread of an elected role.
struct Agent {
  std::string name;
  std::vector<Event> events;
};

/// A place for one tile. Its full barrier takes one arrival a fill, its empty barrier one of each reader.
struct Slot {
  std::string name;
  int readers;
};

struct System {
  std::vector<Slot> slots;
  std::vector<std::string> barriers; ///< names of named barriers
  std::vector<Agent> agents;
};

/// How many threads a warpgroup brings to a named barrier.
constexpr int agentThreads = 128;

/// One step of a run: an event of an agent, or (`agent` is -1) the landing of a slot's fill.
struct Step {
  int agent;
  int event; ///< its number in the agent's list; for a landing the slot
};

/// What goes wrong, and the run that leads there.
struct Fault {
  std::string text;
  Step at{-1, 0}; ///< the wrong event: the last of the trace, or the next of an agent that cannot go on; none (-1) at the end of all
  std::vector<Step> trace;
};

enum class Verdict { Safe, Faulty, Undecided };

struct Result {
  Verdict verdict = Verdict::Safe;
  Fault fault;         ///< the shortest, where Faulty; where Undecided what could not be excluded, with the one run that was made
  size_t states = 0;   ///< visited by the search; 0 where one run decided for all orders
};

/// Decides over every order of the agents' events and of landings. First by `proveByOneRun`, then by `search` of at most `maxStates` states.
Result check(const System &system, size_t maxStates = 300000);

/// Whether all orders are the same run up to the order of independent events, and that run is without fault. Sound, and linear in the number of events; says in `fault` what it could not show.
bool proveByOneRun(const System &system, Fault &fault);

/// Visits all reachable states breadth first; the first fault found has the shortest trace.
Result search(const System &system, size_t maxStates);

/// What a step does, in the terms of the kernel: ``tile 0, block 1: `load` fills slot 0 of ring "k" (fill 2)``.
std::string describe(const System &system, Step step);

} // namespace tegula::protocol
