-- What of a trip was not recorded: of distance_m what is estimated, as nothing was heard on the way, and the time of such ways. unrecorded is a
-- way of its own between two places, and no trip that anybody saw. Rows of before were made without them, and read as 0.
ALTER TABLE trips
    ADD COLUMN IF NOT EXISTS distance_estimated_m Float64 DEFAULT JSONExtractFloat(body, 'distance_estimated_m') AFTER distance_m,
    ADD COLUMN IF NOT EXISTS unrecorded_s Float64 DEFAULT JSONExtractFloat(body, 'unrecorded_ms') / 1000 AFTER moving_s,
    ADD COLUMN IF NOT EXISTS unrecorded Bool DEFAULT JSONExtractBool(body, 'unrecorded') AFTER unrecorded_s
