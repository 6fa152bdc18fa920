"""The commands of stores: to make and fill them, filter a stream, look after them and serve them."""
