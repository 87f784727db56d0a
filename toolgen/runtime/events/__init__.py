"""What those who watch are told, and where it goes."""
