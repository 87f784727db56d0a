"""What tools there are: registered, listed for each request, seen under other names."""
