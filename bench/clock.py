"""The SM clock, read from NVML while launches run."""
import ctypes

SM = 1  # NVML_CLOCK_SM


class Clock:
    """`read()` gives MHz, or None where NVML is not there; `source` says how it is known."""

    def __init__(self, uuid):
        self.device, self.source = None, "unknown: NVML was not found"
        try:
            self.nvml = ctypes.CDLL("libnvidia-ml.so.1")
        except OSError:
            return
        device, name = ctypes.c_void_p(), "GPU-" + str(uuid).removeprefix("GPU-")
        if self.nvml.nvmlInit_v2() or self.nvml.nvmlDeviceGetHandleByUUID(name.encode(), ctypes.byref(device)):
            self.source = "unknown: NVML does not know the GPU"
            return
        self.device, self.source = device, "read from NVML while the launches of a block run, median without the block's first third"

    def read(self):
        mhz = ctypes.c_uint()
        if not self.device or self.nvml.nvmlDeviceGetClockInfo(self.device, SM, ctypes.byref(mhz)):
            return None
        return mhz.value
