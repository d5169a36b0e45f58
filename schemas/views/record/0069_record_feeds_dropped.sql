-- record_log feeds the tables of current records no longer by views, of which the server prepares every one for every insert, but by the
-- texts in feeds/, which api/record runs for the kind that it has written.
DROP VIEW IF EXISTS vehicles_feed, devices_feed, api_keys_feed, accounts_feed
