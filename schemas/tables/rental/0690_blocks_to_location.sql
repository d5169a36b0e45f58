-- Where a transfer brings its vehicle; '' of a block that brings it nowhere. Worked out of the record, which every row holds.
ALTER TABLE blocks
    ADD COLUMN IF NOT EXISTS to_location_id String DEFAULT JSONExtractString(body, 'to_location_id')
