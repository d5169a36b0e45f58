-- A month that no position came into for a day is merged to one part, which is read without merging, and counted by its key.
ALTER TABLE positions
    MODIFY SETTING min_age_to_force_merge_seconds = 86400, min_age_to_force_merge_on_partition_only = 1,
        enable_max_bytes_limit_for_min_age_to_force_merge = 1
