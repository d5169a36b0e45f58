-- Whether a running backup knows what it is of: it has read which parts there are, and what is written from now on is not
-- in it. No row: it has not begun, or is over.
SELECT mapContains(ProfileEvents, 'BackupEntriesCollectorMicroseconds') AS collected
FROM system.processes
WHERE query_id = {id:String}
