"""How speeds are compared: rounds of blocks A, B, A, B, ... with an idle gap before each block.

The card is limited by power: its clock drifts by a tenth within minutes, but hardly within a round. So every participant gets a block of
launches in every round, each after the same rest; the first third of a block, in which the clock settles, is dropped; a block counts as its
median, and only quotients of blocks of the same round are compared. What times a block is a parameter, so that this file needs no GPU.
"""
from dataclasses import dataclass, field
from statistics import median


@dataclass
class Protocol:
    rounds: int = 5
    block_ms: float = 40.0
    gap_s: float = 0.1
    least_launches: int = 6
    most_launches: int = 400

    def launches(self, ms):
        """How many launches of `ms` milliseconds make a block."""
        return max(self.least_launches, min(self.most_launches, int(self.block_ms / max(ms, 1e-3))))


def settled(times):
    """The times of a block without its first third."""
    return times[len(times) // 3:]


@dataclass
class Block:
    """The times of a block's launches, and what was seen beside them."""
    times: list
    clocks: list = field(default_factory=list)  # MHz
    host_ms: float = 0.0  # spent by the host on each launch

    @property
    def ms(self):
        return median(settled(self.times))


@dataclass
class Blocks:
    """One participant's blocks, one a round."""
    blocks: list = field(default_factory=list)

    @property
    def ms(self):
        return median(block.ms for block in self.blocks)

    @property
    def clock(self):
        """The median clock in MHz, or None where it was not read."""
        clocks = [clock for block in self.blocks for clock in settled(block.clocks)]
        return median(clocks) if clocks else None

    @property
    def host_share(self):
        """What part of the time of a launch the host needs to make it: near 1, the host is what is measured."""
        return median(block.host_ms / block.ms for block in self.blocks)


def compare(participants, time_block, rest, protocol):
    """Times `participants`, name -> launch. `time_block(launch, count)` gives a Block; `rest(seconds)` waits for the GPU and then idles."""
    counts = {}
    for name, launch in participants.items():
        time_block(launch, 3)  # first launches load and compile
        counts[name] = protocol.launches(time_block(launch, 6).ms)
    result = {name: Blocks() for name in participants}
    for _ in range(protocol.rounds):
        for name, launch in participants.items():
            rest(protocol.gap_s)
            result[name].blocks.append(time_block(launch, counts[name]))
    return result


def ratios(ours, peer):
    """How much faster ours is, round by round."""
    return [theirs.ms / own.ms for own, theirs in zip(ours.blocks, peer.blocks)]


def tflops(flops, ms):
    return flops / ms * 1e-9


def tensor_pipe(flops, ms, clock, multiprocessors, flops_per_clock):
    """The share of an SM's cycles in which its tensor cores work on the FLOPs that count; None without a clock (MHz)."""
    if clock is None or flops_per_clock is None:
        return None
    return flops / (flops_per_clock * multiprocessors * ms * clock * 1e3)
