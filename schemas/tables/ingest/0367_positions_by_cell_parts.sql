-- A search reads a granule or two of each cell and every column of them. In a compact part they lie together, so that they are
-- read at once and unpacked without their neighbours (DECISIONS, "Parts by place are compact"). Parts that are wide already
-- become compact when they are merged.
ALTER TABLE positions_by_cell
    MODIFY SETTING min_bytes_for_wide_part = 1099511627776
