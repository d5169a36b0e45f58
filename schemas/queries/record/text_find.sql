-- What stands in a column of text of an account's rows and holds one of some words, with a hash that names it. The marks are filled by
-- api/record with what text_columns tells.
SELECT DISTINCT sipHash64(/*column*/) AS hash, ifNull(/*column*/, '') AS text
FROM /*table*/
WHERE account = {account:UInt64} AND multiSearchAnyCaseInsensitiveUTF8(/*column*/, {words:Array(String)}) /*but*/
LIMIT {limit:UInt32}
