"""The planner's constants, unless it measures the machine."""

from neardup.hamming.index.planning.machine import Machine

TYPICAL = Machine(
    source="the machine of the benchmarks (AMD EPYC with AVX-512, two processors), by `neardup plan --check`",
    compare=((14, 4e-11), (17, 4e-11), (20, 4.2e-11), (22, 4.7e-11)),
    stretch=((14, 4.5e-11), (17, 4.9e-11), (20, 2.9e-10), (22, 4.1e-10)),
    row=((14, 3.5e-10),),
    probe=((15, 1.9e-08), (18, 4.2e-08), (21, 9.1e-08), (23, 9.6e-08)),
    step=((14, 1.9e-08), (17, 2.2e-08), (20, 3.1e-08), (22, 1.2e-07)),
    place=((12, 8.5e-09), (15, 9.1e-09), (18, 1.2e-08), (20, 3.2e-08)),
    move=((14, 1.3e-09),),
    collapse=((14, 6e-08), (17, 2.3e-08), (20, 1.7e-08), (22, 1.7e-08)),
    add=((14, 3.4e-09), (17, 4.3e-09), (20, 4.3e-09), (22, 4.3e-09)),
    slice=((14, 3.4e-10), (17, 3.6e-10), (20, 6.7e-10), (22, 6.7e-10)),
    order=((14, 8.4e-08), (17, 9.7e-08), (20, 1.1e-07), (22, 1.5e-07)),
    around=((14, 1.1e-07), (17, 1.5e-07), (20, 6.3e-07), (22, 1.3e-06)),
)
"""Medians of five runs of `neardup.hamming.index.planning.machine_timing.measure_machine`, on a machine shared with other users."""
