"""Conversion to and from any voice: one encoder, several bottlenecks, one inverter, one vocoder."""
