-- The number of a work order is what people call it by, like W-1042.
ALTER TABLE work_orders
    MODIFY COLUMN number String
