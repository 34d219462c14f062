update last_generation set generation = generation + 1 returning generation
