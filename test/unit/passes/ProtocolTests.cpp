//===- ProtocolTests.cpp - orders of events on slots and barriers --------===//
//
// Small pipelines, right ones and ones with one fault each, and the claim on
// which the checker's speed rests: where one run is said to stand for all
// orders, the search of all orders finds no fault.
//
//===----------------------------------------------------------------------===//
#include "passes/verify/Protocol.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

using namespace tegula::protocol;

namespace {

/// A producer and consumers over one ring of `stages` slots.
System pipeline(int stages, int fills, int consumers) {
  System system;
  for (int slot = 0; slot < stages; ++slot)
    system.slots.push_back(
        {"slot " + std::to_string(slot) + " of ring \"k\"", consumers});
  Agent load{"load", {}};
  for (int fill = 0; fill < fills; ++fill)
    for (EventKind kind :
         {EventKind::Acquire, EventKind::Fill, EventKind::Commit})
      load.events.push_back({kind, fill % stages, fill / stages});
  system.agents.push_back(load);
  for (int consumer = 0; consumer < consumers; ++consumer) {
    Agent agent{"compute " + std::to_string(consumer), {}};
    for (int fill = 0; fill < fills; ++fill)
      for (EventKind kind : {EventKind::Wait, EventKind::Read, EventKind::Done,
                             EventKind::Release})
        agent.events.push_back({kind, fill % stages, fill / stages});
    system.agents.push_back(agent);
  }
  return system;
}

/// Warpgroups that take turns at matrix ops, as many times each.
System pingPong(int turns) {
  System system;
  system.barriers = {"named barrier 1", "named barrier 2"};
  for (int group : {0, 1}) {
    Agent agent{"compute " + std::to_string(group), {}};
    auto meet = [&](int barrier, bool waits) {
      agent.events.push_back({EventKind::Meet, barrier, 0, 256});
      if (waits)
        agent.events.push_back({EventKind::Pass, barrier});
    };
    if (group == 1)
      meet(0, false);
    for (int turn = 0; turn < turns; ++turn) {
      meet(group, true);
      meet(1 - group, false);
    }
    if (group == 0)
      meet(0, true);
    system.agents.push_back(agent);
  }
  return system;
}

int find(const Agent &agent, EventKind kind, int occurrence = 0) {
  for (size_t i = 0; i < agent.events.size(); ++i)
    if (agent.events[i].kind == kind && occurrence-- == 0)
      return i;
  ADD_FAILURE() << "no such event";
  return 0;
}

void erase(Agent &agent, EventKind kind, int occurrence = 0) {
  agent.events.erase(agent.events.begin() + find(agent, kind, occurrence));
}

/// Expects a fault, found by both deciders, and gives its text.
std::string faultOf(const System &system) {
  Fault unproved;
  EXPECT_FALSE(proveByOneRun(system, unproved));
  Result result = check(system);
  EXPECT_EQ(result.verdict, Verdict::Faulty);
  return result.fault.text;
}

TEST(Protocol, RightOnesAreDecidedByOneRun) {
  for (int stages : {1, 2, 4})
    for (int fills : {0, 1, 2, 9})
      for (int consumers : {1, 2, 4}) {
        Result result = check(pipeline(stages, fills, consumers));
        EXPECT_EQ(result.verdict, Verdict::Safe) << result.fault.text;
        EXPECT_EQ(result.states, 0u);
      }
  for (int turns : {0, 1, 2, 5})
    EXPECT_EQ(check(pingPong(turns)).states, 0u);
}

TEST(Protocol, SearchAgreesOnRightOnes) {
  for (const System &system :
       {pipeline(1, 3, 2), pipeline(2, 5, 2), pingPong(3)}) {
    Result result = search(system, 300000);
    EXPECT_EQ(result.verdict, Verdict::Safe) << result.fault.text;
    EXPECT_GT(result.states, 10u);
  }
}

TEST(Protocol, AcquireLeftOut) {
  System system = pipeline(2, 4, 2);
  erase(system.agents[0], EventKind::Acquire, 2);
  EXPECT_EQ(faultOf(system), "`load` fills slot 0 of ring \"k\" (fill 1), but "
                             "fill 0 is still landing there");
  system = pipeline(1, 2, 2);
  system.agents[0].events.insert(system.agents[0].events.begin() + 3,
                                 {EventKind::Wait, 0, 0});
  erase(system.agents[0], EventKind::Acquire, 1);
  EXPECT_EQ(faultOf(system), "`load` fills slot 0 of ring \"k\" (fill 1), but "
                             "only 0 of 2 readers have released fill 0");
}

TEST(Protocol, FillUnderAReader) {
  System system = pipeline(1, 2, 1);
  Agent &consumer = system.agents[1];
  std::swap(consumer.events[2], consumer.events[3]); // releases, then awaits
  EXPECT_EQ(faultOf(system), "`compute 0` releases fill 0 of slot 0 of ring "
                             "\"k\", but its matrix op still reads it");
  system = pipeline(1, 2, 1);
  system.agents.push_back(
      system.agents[1]); // reads as well, and never releases
  system.agents[2].name = "extra";
  erase(system.agents[2], EventKind::Release, 1);
  erase(system.agents[2], EventKind::Release);
  EXPECT_EQ(faultOf(system), "`extra` reads fill 0 of slot 0 of ring \"k\", "
                             "which has been released");
}

TEST(Protocol, ReleaseLeftOut) {
  System system = pipeline(2, 4, 2);
  erase(system.agents[2], EventKind::Release);
  EXPECT_EQ(
      faultOf(system),
      "no role can go on: `load` waits until slot 0 of ring \"k\" is "
      "released for fill 1; `compute 0` waits for fill 1 of slot 0 of ring "
      "\"k\"; `compute 1` waits for fill 1 of slot 0 of ring \"k\"");
  system = pipeline(2, 2, 2);
  erase(system.agents[2], EventKind::Release);
  EXPECT_EQ(faultOf(system),
            "at the end of the kernel fill 0 of slot 0 of ring \"k\" is "
            "released by 1 of 2 readers: `compute 0`");
  system = pipeline(1, 2, 1);
  erase(system.agents[1], EventKind::Release, 1);
  erase(system.agents[1], EventKind::Release);
  EXPECT_EQ(faultOf(system), "no role can go on: `load` waits until slot 0 of "
                             "ring \"k\" is released for fill 1; `compute 0` "
                             "waits for fill 1 of slot 0 of ring \"k\"");
}

TEST(Protocol, DoubleRelease) {
  System system = pipeline(2, 2, 2);
  Agent &consumer = system.agents[1];
  consumer.events.insert(consumer.events.begin() + 4, consumer.events[3]);
  EXPECT_EQ(faultOf(system), "`compute 0` releases fill 0 of slot 0 of ring "
                             "\"k\" a second time");
}

TEST(Protocol, WrongPhase) {
  System system = pipeline(1, 3, 1);
  system.agents[1].events[4].round = 2; // the second wait
  EXPECT_EQ(faultOf(system),
            "`compute 0` passes the wait for fill 2 of slot 0 of ring \"k\", "
            "because the parity after the landing of fill 0 is the same");
  system = pipeline(1, 2, 1);
  erase(system.agents[1], EventKind::Wait);
  EXPECT_EQ(faultOf(system), "`compute 0` reads fill 0 of slot 0 of ring "
                             "\"k\", which has not landed");
}

TEST(Protocol, Commits) {
  System system = pipeline(1, 1, 1);
  std::swap(system.agents[0].events[1], system.agents[0].events[2]);
  EXPECT_EQ(faultOf(system), "`load` commits fill 0 of slot 0 of ring \"k\", "
                             "but no copy into it was issued");
  system = pipeline(1, 1, 1);
  system.agents[0].events.push_back(system.agents[0].events[2]);
  EXPECT_EQ(faultOf(system),
            "`load` commits fill 0 of slot 0 of ring \"k\" a second time");
  system = pipeline(1, 1, 1);
  erase(system.agents[0], EventKind::Commit);
  EXPECT_EQ(faultOf(system),
            "no role can go on: `compute 0` waits for fill 0 of slot 0 of ring "
            "\"k\"");
  system.agents.pop_back();
  EXPECT_EQ(faultOf(system), "at the end of the kernel fill 0 of slot 0 of "
                             "ring \"k\" is still landing");
}

TEST(Protocol, NamedBarriers) {
  System system = pingPong(2);
  erase(system.agents[1], EventKind::Meet); // the first turn is not given
  EXPECT_NE(faultOf(system).find("no role can go on"), std::string::npos);
  system = pingPong(1);
  system.agents[0].events.pop_back(); // the last turn is not taken up
  system.agents[0].events.pop_back();
  EXPECT_EQ(faultOf(system), "at the end of the kernel named barrier 1 holds "
                             "the arrival of `compute 1`, which nobody takes "
                             "up");
  system = pingPong(1);
  system.agents[0].events[0].threads = 384;
  EXPECT_EQ(faultOf(system),
            "`compute 1` comes to named barrier 1 of 256 threads, but "
            "`compute 0` came to it as one of 384");
  system = pingPong(1);
  for (Event &event : system.agents[0].events)
    event.threads = 128;
  for (Event &event : system.agents[1].events)
    event.threads = 128;
  EXPECT_EQ(faultOf(system),
            "`compute 0`, `compute 1` may come to named barrier 1 at once, but "
            "128 threads complete it");
}

TEST(Protocol, SearchGivesUp) {
  System system = pipeline(2, 4, 2);
  erase(system.agents[2], EventKind::Release, 3);
  Result result = check(system, 5);
  EXPECT_EQ(result.verdict, Verdict::Undecided);
  EXPECT_NE(result.fault.text, "");
}

TEST(Protocol, TraceIsShortest) {
  System system = pipeline(2, 9, 1);
  erase(system.agents[0], EventKind::Acquire, 2);
  Result result = check(system);
  std::string trace;
  for (Step step : result.fault.trace)
    trace += describe(system, step) + "\n";
  EXPECT_EQ(trace, "`load` acquires slot 0 of ring \"k\" (fill 0)\n"
                   "`load` fills slot 0 of ring \"k\" (fill 0)\n"
                   "`load` commits slot 0 of ring \"k\" (fill 0)\n"
                   "`load` acquires slot 1 of ring \"k\" (fill 0)\n"
                   "`load` fills slot 1 of ring \"k\" (fill 0)\n"
                   "`load` commits slot 1 of ring \"k\" (fill 0)\n"
                   "`load` fills slot 0 of ring \"k\" (fill 1)\n");
}

/// The last agent comes to the one at `place` of `agent`, some times over.
void meet(System &system, Agent &agent, int place, int times) {
  Agent &other = system.agents.back();
  if (&agent == &other)
    return;
  int barrier = system.barriers.size();
  int otherPlace = std::min<int>(place, other.events.size()) / 2;
  system.barriers.push_back("meeting");
  for (int i = 0; i < times; ++i)
    for (Event event : {Event{EventKind::Pass, barrier},
                        Event{EventKind::Meet, barrier, 0, 256}}) {
      agent.events.insert(agent.events.begin() + place, event);
      other.events.insert(other.events.begin() + otherPlace, event);
    }
}

/// Keeps an agent up before its event at `place`, while the others go on.
void keepUp(System &system, int agent, int place) {
  system.agents.push_back({"bystander", {}});
  meet(system, system.agents[agent], place, 12);
}

/// The one run that is made goes well, because an agent comes late in it.
TEST(Protocol, OneRunIsNotAllOrders) {
  System reader = pipeline(1, 1, 1); // a second one that does not release
  reader.agents.push_back({"late", reader.agents[1].events});
  reader.agents[2].events.pop_back();
  keepUp(reader, 1, 3);
  EXPECT_EQ(faultOf(reader), "`late` reads fill 0 of slot 0 of ring \"k\", "
                             "which has been released");

  System commit = pipeline(1, 1, 1); // knows of the commit, not of the landing
  commit.barriers = {"meeting"};
  commit.agents[0].events.push_back({EventKind::Meet, 0, 0, 256});
  commit.agents[1].events[0] = {EventKind::Pass, 0};
  commit.agents[1].events.insert(commit.agents[1].events.begin(),
                                 {EventKind::Meet, 0, 0, 256});
  System release = commit;
  release.agents[1].events.erase(release.agents[1].events.begin() + 2,
                                 release.agents[1].events.begin() + 4);
  keepUp(commit, 1, 2);
  EXPECT_EQ(faultOf(commit), "`compute 0` reads fill 0 of slot 0 of ring "
                             "\"k\", which has not landed");
  keepUp(release, 1, 2);
  EXPECT_EQ(faultOf(release), "`compute 0` releases fill 0 of slot 0 of ring "
                              "\"k\", which has not landed");

  System parity = pipeline(1, 3, 1); // sees the first fill and the third
  parity.barriers = {"meeting"};
  Event come{EventKind::Meet, 0, 0, 256};
  parity.agents[0].events.insert(parity.agents[0].events.begin() + 3,
                                 {come, {EventKind::Pass, 0}});
  parity.agents.push_back(
      {"observer", {{EventKind::Wait, 0, 0}, come, {EventKind::Wait, 0, 2}}});
  keepUp(parity, 2, 2);
  EXPECT_EQ(faultOf(parity),
            "`observer` passes the wait for fill 2 of slot 0 of ring \"k\", "
            "because the parity after the landing of fill 0 is the same");
}

/// A right system with some events changed at random.
System randomSystem(std::mt19937 &random) {
  auto pick = [&](size_t count) { return int(random() % count); };
  auto isRead = [](const Event &event) {
    return event.kind == EventKind::Read || event.kind == EventKind::Done;
  };
  System system = pick(4) == 0
                      ? pingPong(1 + pick(3))
                      : pipeline(1 + pick(2), 1 + pick(4), 1 + pick(2));
  for (int change = 0, changes = pick(5); change < changes; ++change) {
    Agent &agent = system.agents[pick(system.agents.size())];
    std::vector<Event> &events = agent.events;
    if (events.empty())
      continue;
    int place = pick(events.size());
    switch (pick(9)) {
    case 0:
      if (!isRead(events[place]))
        events.erase(events.begin() + place);
      break;
    case 1: // an event twice, or one of another kind
      if (!isRead(events[place])) {
        Event event = events[place];
        if (event.kind != EventKind::Meet && event.kind != EventKind::Pass &&
            pick(2))
          event.kind =
              std::vector{EventKind::Acquire, EventKind::Wait, EventKind::Touch,
                          EventKind::Release}[pick(4)];
        events.insert(events.begin() + place + pick(2), event);
      }
      break;
    case 2: // an agent that never does one thing
      if (EventKind kind = events[place].kind;
          kind == EventKind::Release || kind == EventKind::Acquire)
        std::erase_if(events, [&](Event event) { return event.kind == kind; });
      break;
    case 3: { // neighbours in the other order
      int other = std::min<int>(place + 1, events.size() - 1);
      if (!isRead(events[place]) || !isRead(events[other]))
        std::swap(events[place], events[other]);
      break;
    }
    case 4:
      events[place].round = std::max(0, events[place].round + pick(3) - 1);
      break;
    case 5:
      if (!system.slots.empty())
        for (Slot &slot : system.slots)
          slot.readers = std::max(1, slot.readers - pick(2));
      break;
    case 6: // an agent that leaves out some fills
      std::erase_if(events, [&, skipped = pick(2)](Event event) {
        return event.round % 2 == skipped;
      });
      break;
    case 7: { // an agent that is kept up for a while
      size_t number = &agent - system.agents.data();
      system.agents.push_back({"bystander", {}});
      meet(system, system.agents[number], place, 6);
      break;
    }
    case 8: // two agents that meet
      meet(system, agent, place, 1);
      break;
    }
  }
  std::shuffle(system.agents.begin(), system.agents.end(), random);
  return system;
}

/// What one run proves, all orders keep.
TEST(Protocol, ProofsHoldInAllOrders) {
  std::mt19937 random(1);
  int proved = 0, faulty = 0, foundSafe = 0;
  for (int trial = 0; trial < 2500; ++trial) {
    System system = randomSystem(random);
    Fault unproved;
    bool isProved = proveByOneRun(system, unproved);
    Result all = search(system, 100000);
    ASSERT_NE(all.verdict, Verdict::Undecided);
    if (isProved) {
      ASSERT_EQ(all.verdict, Verdict::Safe) << trial << ": " << all.fault.text;
    }
    proved += isProved;
    faulty += all.verdict == Verdict::Faulty;
    foundSafe += !isProved && all.verdict == Verdict::Safe;
  }
  EXPECT_GT(proved, 500);
  EXPECT_GT(faulty, 500);
  // One run need not decide, but it does nearly always.
  EXPECT_LT(foundSafe, 20);
}

} // namespace
