-- How many migrations are noted as applied, and the checksum of the newest schema of which the database is or was made at
-- once, '' if it was made by migrations. begun is under which version that is noted.
SELECT countIf(version != {begun:String}), anyIf(checksum, version = {begun:String}) FROM schema_versions FINAL
