"""Conversion to and from any voice: content encoder, bottlenecks, reference encoder, inverter."""
