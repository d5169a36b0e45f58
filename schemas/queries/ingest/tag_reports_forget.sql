-- Removes what trackers reported of a tag during the span in which an erased person had it. The tag goes by its hash, as the
-- server keeps what it is told here. It waits until the bytes are out of the parts that are read.
ALTER TABLE tag_reports
DELETE WHERE account = {account:UInt64} AND sipHash64(tag) = {tag:UInt64}
    AND time >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND time < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
SETTINGS mutations_sync = 1
