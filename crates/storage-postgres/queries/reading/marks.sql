select reader, through, day, requests, tokens
from reading_mark
where store_id = $1
order by reader
