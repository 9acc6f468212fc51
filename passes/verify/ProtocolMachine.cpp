// What each event does, and when it is wrong.
#include "passes/verify/ProtocolMachine.h"

#include <bit>

using namespace tegula::protocol;
using Text = std::optional<std::string>;

static std::string number(int value) { return std::to_string(value); }
static std::string fillNumber(const Event &event) { return "fill " + number(event.round); }

/// When the phase of a barrier began.
static std::string since(int phase, const char *what) { return phase == 0 ? "at the start" : "after the " + std::string(what) + " of fill " + number(phase - 1); }

/// Whether a wait for phase `round` passes a barrier in phase `phase`: it sees the parity alone.
static bool seesParity(int phase, int round) { return ((phase - round) & 1) != 0; }

Machine::Machine(const System &system)
    : system(&system), at(system.agents.size()), turnOf(system.agents.size()), slots(system.slots.size()), barriers(system.barriers.size()),
      readCounts(system.slots.size() * system.agents.size()) {}

bool Machine::isEnabled(int agent) const {
  if (isEnded(agent))
    return false;
  const Event &event = next(agent);
  switch (event.kind) {
  case EventKind::Acquire:
    return seesParity(slots[event.object].empty, event.round - 1);
  case EventKind::Wait:
    return seesParity(slots[event.object].full, event.round);
  case EventKind::Pass:
    return barriers[event.object].turn > turnOf[agent];
  default:
    return true;
  }
}

Text Machine::step(int agent) {
  const Event &event = next(agent);
  ++at[agent];
  switch (event.kind) {
  case EventKind::Acquire:
    if (slots[event.object].empty != event.round)
      return name(agent) + " acquires " + slotName(event.object) + " for " + fillNumber(event) + ", because the parity " + since(slots[event.object].empty, "release") + " is the same";
    return {};
  case EventKind::Wait:
    if (slots[event.object].full != event.round + 1)
      return name(agent) + " passes the wait for " + fillNumber(event) + " of " + slotName(event.object) + ", because the parity " + since(slots[event.object].full, "landing") + " is the same";
    return {};
  case EventKind::Fill:
  case EventKind::Store:
    return fill(agent, event);
  case EventKind::Note:
    return note(agent, event);
  case EventKind::Commit:
    return commit(agent, event);
  case EventKind::Read:
    if (Text wrong = read(agent, event))
      return wrong;
    ++reads(event.object, agent);
    return {};
  case EventKind::Done:
    --reads(event.object, agent);
    return {};
  case EventKind::Touch:
    return read(agent, event);
  case EventKind::Release:
    return release(agent, event);
  case EventKind::Meet:
    return meet(agent, event);
  case EventKind::Pass:
    return {};
  }
  return {};
}

std::string Machine::names(uint16_t agents) const {
  std::string text;
  for (size_t agent = 0; agent < at.size(); ++agent)
    if (agents >> agent & 1)
      text += (text.empty() ? "" : ", ") + name(agent);
  return text;
}

Text Machine::fill(int agent, const Event &event) {
  SlotState &slot = slots[event.object];
  std::string what = name(agent) + " fills " + slotName(event.object) + " (" + fillNumber(event) + ")";
  if (slot.filling || slot.landed)
    return what + ", but fill " + number(slot.full) + (slot.filling ? " is still landing there" : " lies there and was not committed");
  for (size_t other = 0; other < at.size(); ++other)
    if (reads(event.object, other))
      return what + ", but " + name(other) + " still reads fill " + number(slot.full - 1);
  if (slot.empty < event.round)
    return what + ", but only " + number(std::popcount(slot.released)) + " of " + number(system->slots[event.object].readers) + " readers have released fill " + number(slot.empty) +
           (slot.released ? ": " + names(slot.released) : "");
  if (slot.full != event.round)
    return what + ", but its turn is fill " + number(slot.full);
  slot.filling = event.kind == EventKind::Fill;
  slot.landed = !slot.filling;
  return {};
}

/// Readers of the note before have released it, and those of this one are told of it by the commit.
Text Machine::note(int agent, const Event &event) const {
  const SlotState &slot = slots[event.object];
  std::string what = name(agent) + " writes the note on " + fillNumber(event) + " of " + slotName(event.object);
  if (slot.empty < event.round)
    return what + ", but only " + number(std::popcount(slot.released)) + " of " + number(system->slots[event.object].readers) + " readers have released fill " + number(slot.empty);
  if (slot.full > event.round || slot.committed)
    return what + ", which has been committed";
  return {};
}

void Machine::completeFull(SlotState &slot) {
  if (!slot.committed || !slot.landed)
    return;
  slot.committed = slot.landed = false;
  ++slot.full;
}

void Machine::land(int number) {
  slots[number].filling = false;
  slots[number].landed = true;
  completeFull(slots[number]);
}

Text Machine::commit(int agent, const Event &event) {
  SlotState &slot = slots[event.object];
  std::string what = name(agent) + " commits " + fillNumber(event) + " of " + slotName(event.object);
  if (slot.full > event.round || slot.committed)
    return what + " a second time";
  if (slot.full < event.round || !(slot.filling || slot.landed))
    return what + ", but no copy into it was issued";
  slot.committed = true;
  completeFull(slot);
  return {};
}

Text Machine::read(int agent, const Event &event) const {
  const SlotState &slot = slots[event.object];
  std::string what = name(agent) + " reads " + fillNumber(event) + " of " + slotName(event.object);
  if (slot.full <= event.round)
    return what + ", which has not landed";
  if (slot.full > event.round + 1 || slot.filling)
    return what + ", which a later one has overwritten";
  if (slot.empty > event.round)
    return what + ", which has been released";
  if (slot.released >> agent & 1)
    return what + ", which it has released itself";
  return {};
}

Text Machine::release(int agent, const Event &event) {
  SlotState &slot = slots[event.object];
  std::string what = name(agent) + " releases " + fillNumber(event) + " of " + slotName(event.object);
  if (reads(event.object, agent))
    return what + ", but its matrix op still reads it";
  if (slot.empty == event.round && slot.released >> agent & 1)
    return what + " a second time";
  if (slot.empty > event.round)
    return what + ", whose empty barrier has had all its " + number(system->slots[event.object].readers) + " arrivals";
  if (slot.full <= event.round)
    return what + ", which has not landed";
  if (slot.empty < event.round)
    return what + ", but fill " + number(slot.empty) + " is not yet released by all";
  slot.released |= 1u << agent;
  if (std::popcount(slot.released) == system->slots[event.object].readers) {
    slot.released = 0;
    ++slot.empty;
  }
  return {};
}

Text Machine::meet(int agent, const Event &event) {
  BarrierState &barrier = barriers[event.object];
  std::string what = name(agent) + " comes to " + system->barriers[event.object];
  if (barrier.came >> agent & 1)
    return what + " a second time in one turn";
  if (barrier.came && barrier.threads != event.threads)
    return what + " of " + number(event.threads) + " threads, but " + names(barrier.came) + " came to it as one of " + number(barrier.threads);
  int threads = agentThreads * (std::popcount(barrier.came) + 1);
  if (threads > event.threads)
    return what + ", but " + number(event.threads) + " threads complete it, and this makes " + number(threads);
  turnOf[agent] = barrier.turn;
  barrier.threads = event.threads;
  barrier.came |= 1u << agent;
  if (threads == event.threads)
    barrier = {static_cast<uint16_t>(barrier.turn + 1), 0, 0};
  return {};
}

std::optional<StateFault> Machine::faultOfState() const {
  if (auto wrong = tooManyAtOnce())
    return wrong;
  bool allEnded = true;
  for (size_t agent = 0; agent < at.size(); ++agent) {
    if (isEnabled(agent))
      return {};
    allEnded &= isEnded(agent);
  }
  for (const SlotState &slot : slots)
    if (slot.filling && !allEnded)
      return {};
  return allEnded ? leftOver() : stuck();
}

std::optional<StateFault> Machine::tooManyAtOnce() const {
  for (size_t agent = 0; agent < at.size(); ++agent) {
    if (isEnded(agent) || next(agent).kind != EventKind::Meet)
      continue;
    const Event &event = next(agent);
    uint16_t may = barriers[event.object].came;
    for (size_t other = 0; other < at.size(); ++other)
      if (!isEnded(other) && next(other).kind == EventKind::Meet && next(other).object == event.object)
        may |= 1u << other;
    if (std::popcount(may) > 1 && agentThreads * std::popcount(may) > event.threads)
      return StateFault{names(may) + " may come to " + system->barriers[event.object] + " at once, but " + number(event.threads) + " threads complete it", int(agent)};
  }
  return {};
}

StateFault Machine::stuck() const {
  StateFault fault;
  std::string &text = fault.text;
  for (size_t agent = 0; agent < at.size(); ++agent) {
    if (isEnded(agent))
      continue;
    if (fault.agent < 0)
      fault.agent = agent;
    const Event &event = next(agent);
    text += (text.empty() ? "no role can go on: " : "; ") + name(agent) + " waits ";
    if (event.kind == EventKind::Acquire)
      text += "until " + slotName(event.object) + " is released for " + fillNumber(event);
    else if (event.kind == EventKind::Wait)
      text += "for " + fillNumber(event) + " of " + slotName(event.object);
    else
      text += "at " + system->barriers[event.object];
  }
  return fault;
}

std::optional<StateFault> Machine::leftOver() const {
  for (size_t number = 0; number < slots.size(); ++number) {
    const SlotState &slot = slots[number];
    std::string what = "at the end of the kernel fill " + std::to_string(slot.empty) + " of " + slotName(number);
    if (slot.filling)
      return StateFault{what + " is still landing"};
    if (slot.landed)
      return StateFault{what + " was not committed"};
    if (slot.full != slot.empty)
      return StateFault{what + " is released by " + std::to_string(std::popcount(slot.released)) + " of " + std::to_string(system->slots[number].readers) + " readers" +
                        (slot.released ? ": " + names(slot.released) : "")};
  }
  for (size_t number = 0; number < barriers.size(); ++number)
    if (uint16_t came = barriers[number].came)
      return StateFault{"at the end of the kernel " + system->barriers[number] + " holds the arrival of " + names(came) + ", which nobody takes up"};
  return {};
}

std::string Machine::key() const {
  std::string key;
  auto add = [&](uint16_t word) {
    key.push_back(static_cast<char>(word));
    key.push_back(static_cast<char>(word >> 8));
  };
  for (size_t agent = 0; agent < at.size(); ++agent)
    add(at[agent]), add(turnOf[agent]);
  for (const SlotState &slot : slots) {
    add(slot.full), add(slot.empty), add(slot.released);
    key.push_back(static_cast<char>(slot.committed | slot.filling << 1 | slot.landed << 2));
  }
  for (const BarrierState &barrier : barriers)
    add(barrier.turn), add(barrier.threads), add(barrier.came);
  key.append(readCounts.begin(), readCounts.end());
  return key;
}

std::string tegula::protocol::describe(const System &system, Step step) {
  if (step.agent < 0)
    return "the copy into " + system.slots[step.event].name + " lands";
  const Agent &agent = system.agents[step.agent];
  const Event &event = agent.events[step.event];
  std::string place = event.tile < 0 ? "" : "tile " + number(event.tile) + (event.block < 0 ? "" : ", block " + number(event.block)) + ": ";
  auto onSlot = [&](const char *verb) { return place + "`" + agent.name + "` " + verb + " " + system.slots[event.object].name + " (" + fillNumber(event) + ")"; };
  switch (event.kind) {
  case EventKind::Acquire:
    return onSlot("acquires");
  case EventKind::Fill:
  case EventKind::Store:
    return onSlot("fills");
  case EventKind::Note:
    return onSlot("writes the note on");
  case EventKind::Commit:
    return onSlot("commits");
  case EventKind::Wait:
    return onSlot("waits for");
  case EventKind::Read:
  case EventKind::Touch:
    return onSlot("reads");
  case EventKind::Done:
    return onSlot("has read");
  case EventKind::Release:
    return onSlot("releases");
  case EventKind::Meet:
    return place + "`" + agent.name + "` comes to " + system.barriers[event.object];
  case EventKind::Pass:
    return place + "`" + agent.name + "` passes " + system.barriers[event.object];
  }
  return {};
}
