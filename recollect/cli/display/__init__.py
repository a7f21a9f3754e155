"""What commands show while they work and at their end."""
