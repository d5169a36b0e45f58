-- Who some papers name, by the sealings of which they speak.
SELECT DISTINCT paper, sealing, body
FROM paper_persons
WHERE account = {account:UInt64} AND paper IN {papers:Array(UInt64)} AND sealing IN {sealings:Array(UInt64)}
