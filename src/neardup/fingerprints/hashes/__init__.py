"""HASH: features to integers, by one of several hashes, at any width from 1 to 512 bits.

A hash gives an integer of its native width; a digest is read big-endian. For a fingerprint of so many bits each feature gives

- the LOWEST bits of that integer, if it has as many: bits=64 of MD5 are the last eight bytes of the digest;
- else the integer with others above it: value + E(1) 2^native + E(2) 2^(native + 128) + …, of which the lowest bits are taken.
  E(k) is XXH3-128 of the value and then k, as 64-bit words (little-endian, the value's least significant word first).

So the hash at one width is the low end of the hash at any larger one. Bits above the native ones are a function of these: they
fall evenly, but features that the native hash confuses stay confused. A hash of 32 bits tells at most 2^32 features apart at any
width: among 77,000 distinct ones, two have the same hash with a probability of a half.
"""
