"""Routes that speak as other services do, for the clients that exist. They recognise entities."""
