select * from live_memory
