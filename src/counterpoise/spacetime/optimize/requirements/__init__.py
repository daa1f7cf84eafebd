"""What a motion must fulfil besides keys and contacts, one file each."""
