-- As 0364_record_log_merges.sql.
ALTER TABLE bookings
    MODIFY SETTING merge_selector_base = 12
