-- What made an expense: scheduled_by is the id of the vehicle whose terms did, or of the recurring cost, empty where a
-- person wrote it; schedule says which of the vehicle's schedules. Serves: the duty that makes expenses by schedule.
ALTER TABLE expenses
    ADD COLUMN IF NOT EXISTS scheduled_by String DEFAULT JSONExtractString(body, 'scheduled', 'by'),
    ADD COLUMN IF NOT EXISTS schedule LowCardinality(String) DEFAULT JSONExtractString(body, 'scheduled', 'what')
