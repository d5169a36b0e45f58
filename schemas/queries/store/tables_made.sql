-- How many tables and views the database has, besides what notes the versions of its schema.
SELECT count() FROM system.tables WHERE database = currentDatabase() AND name != 'schema_versions'
