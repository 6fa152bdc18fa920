"""VERIFY PASSAGES: prove a run that cut repeated passages; what is repeated is found again, in another way."""
