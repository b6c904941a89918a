"""Audio in and out: decoding, resampling, loudness, features.

To be imported before numpy, whose threads then do not get in torch's way.
"""

import os

# A thread of OpenBLAS that has nothing to do spins for 2 to the power of this many cycles before it
# sleeps. As numpy's wheels bring it that is some 100 ms after a product of large matrices, on cores
# that torch wants (benchmarks/idle_threads.md). It is read once, when numpy is loaded.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
