-- How many migrations are noted as applied, and the checksum of the newest schema of which the database is or was made at
-- once, '' if it was made by migrations.
SELECT countIf(version != '0000_newest'), anyIf(checksum, version = '0000_newest') FROM schema_versions FINAL
