"""HASH: features to integers, by one of several hashes, at any width from 1 to 512 bits.

A hash gives an integer of its native width; a digest is read as a big-endian integer. A fingerprint of `bits` bits uses, for each
feature,

- the LOWEST bits of that integer, if it has enough: bits=64 of MD5 are the last eight bytes of the digest;
- otherwise the integer with further bits above it: value + E(1) 2^native + E(2) 2^(native + 128) + …, again its lowest bits.
  E(k) is XXH3-128 of the value and then k, as 64-bit words (little-endian, the value's least significant word first).

So the hash at one width is the low end of the hash at any larger width. Bits above the native ones are a function of the native
ones: they are uniformly distributed, but features that collide natively still collide. A 32-bit hash distinguishes at most 2^32
features at any width: among 77,000 different features, two have the same hash with a probability of one half.
"""
