"""What is given on a command line or in a configuration file: options, their values, and what is wrong with a call."""
