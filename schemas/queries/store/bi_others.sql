-- What stands in the database of the views for analysts and is no view.
SELECT name FROM system.tables WHERE database = {database:String} AND engine != 'View' ORDER BY name
