"""The command `neardup warmup`."""

import click


@click.command()
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="Processes; default: as many as processors.")
def command(jobs: int | None) -> None:
    """Compile all kernels now, where they do not come compiled.

    Wheels for Linux on x86-64 and aarch64 bring compiled kernels, and this command says so. Elsewhere, Numba compiles
    a kernel when it is first used and keeps it in the user's cache folder, or in NEARDUP_CACHE_DIR; this command
    compiles all of them, in parallel. Run it when an image is built, so that nothing compiles in its containers.
    """
    from neardup.kernels.warmup import warm_up

    click.echo(warm_up(jobs))
