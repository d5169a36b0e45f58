-- As 0364_record_log_merges.sql.
ALTER TABLE calendars
    MODIFY SETTING merge_selector_base = 12
