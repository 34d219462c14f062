select place, held, memory_id
from look_up_words($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
