-- What stands in the database of the views for analysts: whether it is a view, and reads with the rights of its reader.
SELECT name, engine = 'View' AND position(create_table_query, 'SQL SECURITY INVOKER') > 0
FROM system.tables
WHERE database = {database:String}
ORDER BY name
