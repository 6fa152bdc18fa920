"""UPKEEP: verify, repair, compact, back up, export, restore and build stores."""
