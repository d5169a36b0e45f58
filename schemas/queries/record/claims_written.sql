-- Which of an owner's claims on many values of one field stand at the revisions that its writes wanted.
SELECT value, revision, write_id
FROM claim_log
WHERE account = {account:UInt64} AND field = {field:String} AND value IN {values:Array(String)} AND write_id IN {writes:Array(UInt64)}
