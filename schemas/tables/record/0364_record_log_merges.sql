-- Calendars are large and written often, and the server would rewrite a part of some megabytes for every other write: by its measure a part
-- below 100 MB is cheap to merge again. Twelve parts of a size are waited for instead of five or fewer (DECISIONS, "Fewer merges").
ALTER TABLE record_log
    MODIFY SETTING merge_selector_base = 12
