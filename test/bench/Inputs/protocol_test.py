"""The arithmetic and the order of bench/protocol.py, on a clock of numbers."""
import sys
import unittest

sys.path.insert(0, sys.argv.pop(1))
import protocol


class Machine:
    """Launches take what their participant says, three times as much in the first third of a block; writes down what happens."""

    def __init__(self):
        self.log = []

    def time_block(self, launch, count):
        self.log.append((launch.name, count))
        ms = launch()
        return protocol.Block([3 * ms if n < count // 3 else ms for n in range(count)], [900] * 2 + [1500, 1400, 1600, 1500])

    def rest(self, seconds):
        self.log.append(("rest", seconds))


def participant(name, times):
    """Each block takes the next of `times`, and the last one again and again."""
    def launch():
        return times.pop(0) if len(times) > 1 else times[0]
    launch.name = name
    return launch


class ProtocolTest(unittest.TestCase):
    def test_first_third_is_dropped(self):
        self.assertEqual(protocol.settled([9, 9, 1, 2, 3, 4]), [1, 2, 3, 4])
        self.assertEqual(protocol.settled([9, 9, 1, 2, 3, 4, 5, 6]), [1, 2, 3, 4, 5, 6])
        self.assertEqual(protocol.Block([50, 50, 1, 2, 3, 8]).ms, 2.5)

    def test_block_lengths(self):
        rules = protocol.Protocol(block_ms=40)
        self.assertEqual([rules.launches(ms) for ms in (0.5, 20, 0.001, 0)], [80, 6, 400, 400])

    def test_rounds_alternate_and_rest_before_each_block(self):
        machine = Machine()
        rules = protocol.Protocol(rounds=3, block_ms=40, gap_s=0.25)
        protocol.compare({"a": participant("a", [2.0]), "b": participant("b", [4.0])}, machine.time_block, machine.rest, rules)
        warm_up, rounds = machine.log[:4], machine.log[4:]
        self.assertEqual([name for name, _ in warm_up], ["a", "a", "b", "b"])
        self.assertEqual(rounds, [("rest", 0.25), ("a", 20), ("rest", 0.25), ("b", 10)] * 3)

    def test_ratios_are_within_rounds(self):
        # The clock falls from round to round, for both alike: each ratio is 1.5, and so is the median.
        machine = Machine()
        drift = [1.0, 1.1, 1.3]
        ours = participant("ours", [1.0, 1.0] + [2.0 * d for d in drift])
        peer = participant("peer", [1.0, 1.0] + [3.0 * d for d in drift])
        measured = protocol.compare({"ours": ours, "peer": peer}, machine.time_block, machine.rest, protocol.Protocol(rounds=3))
        ratios = protocol.ratios(measured["ours"], measured["peer"])
        self.assertEqual([round(ratio, 9) for ratio in ratios], [1.5, 1.5, 1.5])
        self.assertAlmostEqual(measured["ours"].ms, 2.2)

    def test_clock_without_first_third(self):
        machine = Machine()
        measured = protocol.compare({"a": participant("a", [1.0])}, machine.time_block, machine.rest, protocol.Protocol(rounds=2))
        self.assertEqual(measured["a"].clock, 1500)
        self.assertIsNone(protocol.Blocks([protocol.Block([1.0])]).clock)

    def test_speeds(self):
        self.assertAlmostEqual(protocol.tflops(4e12, 8.0), 500.0)
        # 1 ms at 1000 MHz is a million clocks: 2 SMs of 4096 could do 8.192e9.
        self.assertEqual(protocol.tensor_pipe(4.096e9, 1.0, 1000, 2, 4096), 0.5)
        self.assertIsNone(protocol.tensor_pipe(1.0, 1.0, None, 2, 4096))


unittest.main()
