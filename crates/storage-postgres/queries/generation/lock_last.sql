select generation from last_generation for update
