select reader, through, day, requests, tokens
from reading_mark
where store = ?1
order by reader
