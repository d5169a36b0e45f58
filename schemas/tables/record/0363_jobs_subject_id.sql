-- What a job is about is subject_id where it is answered, so that lists filter by that name too.
ALTER TABLE jobs
    ADD COLUMN IF NOT EXISTS subject_id String ALIAS subject
