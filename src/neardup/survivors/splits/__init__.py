"""SPLITS: documents that match stay on one side: which are dealt together, to which side, and how near that comes to the shares."""
