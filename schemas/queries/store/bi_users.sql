-- The users for analysts that this server knows, by the policies that show them their rows of the first view.
SELECT DISTINCT arrayJoin(apply_to_list) AS name, extract(select_filter, 'acc_[0-9]+') AS account
FROM system.row_policies
WHERE database = {database:String} AND table = 'vehicles' AND startsWith(name, {prefix:String}) AND account != ''
ORDER BY name
