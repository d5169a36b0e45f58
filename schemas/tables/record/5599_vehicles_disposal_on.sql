-- The date on which a vehicle left the fleet, or is to leave it; '' for none. Serves: taking vehicles out of service that were disposed
-- of, which looks at all that stand ready and need not unpack them. Of parts written before it comes from body until they are merged.
ALTER TABLE vehicles ADD COLUMN IF NOT EXISTS disposal_on String DEFAULT JSONExtractString(body, 'disposal_on')
