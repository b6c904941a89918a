"""The older networks, over MFCC and discovered units: the baselines of the default."""
