"""What the command line shows: lines on a terminal, differences, interruptions, and the command to call next."""
