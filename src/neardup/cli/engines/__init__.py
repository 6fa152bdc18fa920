"""The commands that Spark and Ray submit."""
